-- Each action is offered only while it can do something.
local actions = {}
if obj.metadata.deletionTimestamp ~= nil then
  return actions
end

-- An action has no empty list apart from an empty object, and so cannot copy either.
local function copyable(value)
  if type(value) ~= "table" then
    return true
  end
  if next(value) == nil then
    return false
  end
  for _, item in pairs(value) do
    if not copyable(item) then
      return false
    end
  end
  return true
end

local finished = obj.status ~= nil and obj.status.verdict ~= nil
if finished and copyable(obj.spec) then
  actions["rerun"] = {["displayName"] = "Rerun", ["iconClass"] = "fa fa-fw fa-redo"}
end
if not finished and not obj.spec.terminate then
  actions["cancel"] = {["displayName"] = "Cancel", ["iconClass"] = "fa fa-fw fa-stop"}
  if obj.spec.suspend then
    actions["resume"] = {["displayName"] = "Resume", ["iconClass"] = "fa fa-fw fa-play"}
  end
end
return actions
