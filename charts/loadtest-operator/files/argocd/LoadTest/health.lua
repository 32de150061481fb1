-- A run that passed is Healthy, and every other verdict Degraded: a sync stops there.
-- The message begins with the verdict, or with the phase while there is none.
local status = obj.status or {}
if status.observedGeneration ~= obj.metadata.generation then
  return {status = "Progressing", message = "The operator has not seen this generation yet."}
end

local function message(kind, is)
  for _, condition in ipairs(status.conditions or {}) do
    if condition.type == kind and condition.status == (is or "True") then
      return condition.message
    end
  end
  return nil
end

local function health(kind, first, more)
  if more ~= nil and more ~= "" then
    return {status = kind, message = first .. ": " .. more}
  end
  return {status = kind, message = first .. "."}
end

if status.verdict == "Passed" then
  return health("Healthy", "Passed", message("Finished"))
end
if status.verdict ~= nil then
  return health("Degraded", status.verdict, message("Finished"))
end
if message("Suspended") ~= nil then
  return health("Suspended", "Suspended", message("Suspended"))
end
if status.phase == "Running" and status.summary ~= nil and status.summary.step ~= nil then
  return health("Progressing", "Running", "step " .. status.summary.step .. ".")
end
if status.phase == "Starting" and message("WorkersReady", "False") ~= nil then
  return health("Progressing", "Starting", message("WorkersReady", "False"))
end
return health("Progressing", status.phase or "Pending", message("Queued") or message("Reconciling"))
