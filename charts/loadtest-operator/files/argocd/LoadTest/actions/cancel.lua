-- Ends the run and keeps what it has measured, as kubectl loadtest cancel does.
if obj.status ~= nil and obj.status.verdict ~= nil then
  error("the LoadTest has finished already: " .. obj.status.verdict, 0)
end
obj.spec.terminate = true
return obj
