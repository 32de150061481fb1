-- Creates a LoadTest with the same spec and labels under a new name, as kubectl loadtest
-- rerun does. The first one stays, with its result.

-- Labels by which other programs find what they have created: from the first string of a
-- pair up to the second. With them they would delete the new LoadTest, which they have not.
local trackers = {
  {"app.kubernetes.io/instance", "app.kubernetes.io/instancf"},
  {"app.kubernetes.io/managed-by", "app.kubernetes.io/managed-bz"},
  {"argocd.argoproj.io/", "argocd.argoproj.io0"},
  {"kustomize.toolkit.fluxcd.io/", "kustomize.toolkit.fluxcd.io0"},
  {"helm.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io0"},
}

local function tracks(key)
  for _, range in ipairs(trackers) do
    if key >= range[1] and key < range[2] then
      return true
    end
  end
  return false
end

local function copy(value)
  if type(value) ~= "table" then
    return value
  end
  if next(value) == nil then
    error("the spec has an empty list or object, which an action cannot copy: use kubectl loadtest rerun " .. obj.metadata.name, 0)
  end
  local new = {}
  for key, item in pairs(value) do
    new[key] = copy(item)
  end
  return new
end

local annotation = "loadtest.dev/rerun-of"
local metadata = {namespace = obj.metadata.namespace, annotations = {[annotation] = obj.metadata.name}}
for key, value in pairs(obj.metadata.labels or {}) do
  if not tracks(key) then
    metadata.labels = metadata.labels or {}
    metadata.labels[key] = value
  end
end
-- Names do not grow from run to run: what was generated keeps its beginning.
local beginning = obj.metadata.generateName or ((obj.metadata.annotations or {})[annotation] or obj.metadata.name) .. "-"
if #beginning > 47 then
  beginning = "rerun-" -- five random letters would make it longer than the 52 that fit
end
metadata.generateName = beginning

local spec = copy(obj.spec)
spec.suspend = nil
spec.terminate = nil
return {{operation = "create", resource = {apiVersion = obj.apiVersion, kind = obj.kind, metadata = metadata, spec = spec}}}
