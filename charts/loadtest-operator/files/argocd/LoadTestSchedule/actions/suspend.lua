-- Has no LoadTest start. Those that have started go on.
obj.spec.suspend = true
return obj
