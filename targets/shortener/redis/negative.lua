-- Stores that a code has no link, where there is no entry or an earlier one that says
-- so: of a link, or of a code that may have one, nothing is overwritten.
--
-- KEYS: the entry. ARGV: the negative entry, and for how many milliseconds it lives.
-- Returns whether it was stored.
local entry = redis.call('GET', KEYS[1])
if not entry or string.sub(entry, 1, 1) == '-' then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end
return 0
