-- Removes from a consumer group the members that were silent for long and have no
-- entries that wait to be acknowledged, which would be struck off, too. Nothing
-- comes between the check and the removal, since a script is one command.
--
-- KEYS: the stream. ARGV: the group, how long is long, in milliseconds, and the only
-- member to look at, or nothing for all.
-- Returns how many were struck off.
local struck = 0
for _, info in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local consumer = {}
  for i = 1, #info, 2 do
    consumer[info[i]] = info[i + 1]
  end
  if (ARGV[3] == '' or ARGV[3] == consumer.name) and consumer.pending == 0 and consumer.idle >= tonumber(ARGV[2]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], consumer.name)
    struck = struck + 1
  end
end
return struck
