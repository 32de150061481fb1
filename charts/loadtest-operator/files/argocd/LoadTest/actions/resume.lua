-- Starts a LoadTest that spec.suspend holds, as kubectl loadtest watch --resume does.
if obj.status ~= nil and obj.status.verdict ~= nil then
  error("the LoadTest has finished already: " .. obj.status.verdict, 0)
end
obj.spec.suspend = false
return obj
