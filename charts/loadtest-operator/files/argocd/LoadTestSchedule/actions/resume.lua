-- Has LoadTests start again.
obj.spec.suspend = false
return obj
