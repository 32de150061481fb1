-- A schedule is Degraded when it cannot start LoadTests, or when the one that finished last
-- did not pass. Where a change or a rollout is tested, it is Progressing until that is done.
local status = obj.status or {}
if status.observedGeneration ~= obj.metadata.generation then
  return {status = "Progressing", message = "The operator has not seen this generation yet."}
end

for _, condition in ipairs(status.conditions or {}) do
  if condition.type == "Ready" and condition.status == "False" then
    return {status = "Degraded", message = condition.reason .. ": " .. condition.message}
  end
end
if obj.spec.suspend then
  return {status = "Suspended", message = "Suspended: no LoadTest starts."}
end

local active = {}
for _, name in ipairs(status.active or {}) do
  active[name] = true
end
for _, cause in ipairs({obj.spec.onChange and (status.change or {}) or false, obj.spec.onRollout and status.rollout or false}) do
  if cause and cause.run == nil then
    return {status = "Progressing", message = "The change is not tested yet."}
  end
  if cause and active[cause.run] then
    return {status = "Progressing", message = "LoadTest " .. cause.run .. " runs."}
  end
end

local last = status.lastFinished
if last == nil then
  return {status = "Healthy", message = "No LoadTest has finished yet."}
end
local said = "LoadTest " .. last.name .. ": " .. (last.verdict or "no verdict") .. "."
if last.verdict == "Passed" then
  return {status = "Healthy", message = said}
end
return {status = "Degraded", message = said}
