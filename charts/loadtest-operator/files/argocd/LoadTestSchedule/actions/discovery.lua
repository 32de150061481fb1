-- Each action is offered only while it can do something.
local actions = {}
if obj.metadata.deletionTimestamp ~= nil then
  return actions
end
if obj.spec.suspend then
  actions["resume"] = {["displayName"] = "Resume", ["iconClass"] = "fa fa-fw fa-play"}
else
  actions["suspend"] = {["displayName"] = "Suspend", ["iconClass"] = "fa fa-fw fa-pause"}
end
return actions
