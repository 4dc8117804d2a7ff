import type { PolicyRule } from '@bowline/kubernetes';

/**
 * The rules of the ClusterRoles that every cluster has and that matter here: user-facing roles, discovery roles, and
 * roles of the controllers that run beside the server. Each line is one rule: verbs, groups, resources and optional
 * names; or verbs and paths.
 */
const TABLE = `
[cluster-admin]
* * *
* *
[system:aggregate-to-admin]
create authorization.k8s.io localsubjectaccessreviews
all rbac.authorization.k8s.io rolebindings,roles
[system:aggregate-to-edit]
read core pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy
impersonate core serviceaccounts
write core pods,pods/attach,pods/exec,pods/portforward,pods/proxy
create core pods/eviction
write core configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy
create core serviceaccounts/token
write core,events.k8s.io events
write apps daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale
write autoscaling horizontalpodautoscalers
write batch cronjobs,jobs
write extensions daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale
write policy poddisruptionbudgets
write networking.k8s.io ingresses,networkpolicies
all coordination.k8s.io leases
write resource.k8s.io resourceclaims,resourceclaimtemplates
[system:aggregate-to-view]
read core configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status
read core bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status
read core namespaces
read core,events.k8s.io events
read discovery.k8s.io endpointslices
read apps controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status
read autoscaling horizontalpodautoscalers,horizontalpodautoscalers/status
read batch cronjobs,cronjobs/status,jobs,jobs/status
read extensions daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale
read policy poddisruptionbudgets,poddisruptionbudgets/status
read networking.k8s.io ingresses,ingresses/status,networkpolicies
read resource.k8s.io resourceclaims,resourceclaims/status,resourceclaimtemplates
[system:discovery]
get /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/
[system:basic-user]
create authorization.k8s.io selfsubjectaccessreviews,selfsubjectrulesreviews
create authentication.k8s.io selfsubjectreviews
[system:public-info-viewer]
get /healthz,/livez,/readyz,/version,/version/
[system:service-account-issuer-discovery]
get /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/
[system:monitoring]
get /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*
get core nodes/metrics
[system:auth-delegator]
create authentication.k8s.io tokenreviews
create authorization.k8s.io subjectaccessreviews
[system:kube-controller-manager]
create,patch,update core,events.k8s.io events
create coordination.k8s.io leases
get,update coordination.k8s.io leases kube-controller-manager
create core secrets,serviceaccounts
delete core secrets
get core configmaps,namespaces,secrets,serviceaccounts
update core secrets,serviceaccounts
create authentication.k8s.io tokenreviews
create authorization.k8s.io subjectaccessreviews
list,watch * *
create core serviceaccounts/token
[system:kube-scheduler]
create,patch,update core,events.k8s.io events
create coordination.k8s.io leases
get,list,update,watch coordination.k8s.io leases kube-scheduler
all coordination.k8s.io leasecandidates
read core nodes
delete,get,list,watch core pods
create core bindings,pods/binding
patch,update core pods/status
read core replicationcontrollers,services
read apps,extensions replicasets
read apps statefulsets
read policy poddisruptionbudgets
read core persistentvolumeclaims,persistentvolumes
create authentication.k8s.io tokenreviews
create authorization.k8s.io subjectaccessreviews
read storage.k8s.io csinodes
read storage.k8s.io volumeattachments
read core namespaces
read storage.k8s.io csidrivers
read storage.k8s.io csistoragecapacities
read resource.k8s.io deviceclasses
get,list,patch,update,watch resource.k8s.io resourceclaims
get,list,patch,update,watch resource.k8s.io resourceclaims/status
update core pods/finalizers
read resource.k8s.io resourceslices
[system:volume-scheduler]
get,list,patch,update,watch core persistentvolumes
read storage.k8s.io storageclasses
get,list,patch,update,watch core persistentvolumeclaims
[system:controller:clusterrole-aggregation-controller]
escalate,get,list,patch,update,watch rbac.authorization.k8s.io clusterroles
[system:controller:daemon-set-controller]
read apps,extensions daemonsets
update apps,extensions daemonsets/status
update apps,extensions daemonsets/finalizers
list,watch core nodes
create,delete,list,patch,watch core pods
create core pods/binding
create,delete,get,list,patch,update,watch apps controllerrevisions
create,patch,update core,events.k8s.io events
[system:controller:deployment-controller]
get,list,update,watch apps,extensions deployments
update apps,extensions deployments/status
update apps,extensions deployments/finalizers
create,delete,get,list,patch,update,watch apps,extensions replicasets
get,list,update,watch core pods
create,patch,update core,events.k8s.io events
[system:controller:endpointslice-controller]
read core nodes,pods,services
update core services/finalizers
create,delete,get,list,update,watch discovery.k8s.io endpointslices
create,patch,update core,events.k8s.io events
[system:controller:generic-garbage-collector]
delete,get,list,patch,update,watch * *
create,patch,update core,events.k8s.io events
[system:controller:job-controller]
get,list,patch,update,watch batch jobs
update batch jobs/status
update batch jobs/finalizers
create,delete,list,patch,watch core pods
create,patch,update core,events.k8s.io events
[system:controller:namespace-controller]
delete,get,list,watch core namespaces
update core namespaces/finalize,namespaces/status
delete,deletecollection,get,list,watch * *
[system:controller:pod-garbage-collector]
delete,list,watch core pods
read core nodes
patch core pods/status
[system:controller:replicaset-controller]
get,list,update,watch apps,extensions replicasets
update apps,extensions replicasets/status
update apps,extensions replicasets/finalizers
create,delete,list,patch,watch core pods
create,patch,update core,events.k8s.io events
[system:controller:root-ca-cert-publisher]
create,update core configmaps
create,patch,update core,events.k8s.io events
[system:controller:service-account-controller]
create core serviceaccounts
create,patch,update core,events.k8s.io events
[system:controller:statefulset-controller]
list,watch core pods
read apps statefulsets
update apps statefulsets/status
update apps statefulsets/finalizers
create,delete,get,patch,update core pods
create,delete,get,list,patch,update,watch apps controllerrevisions
create,get,list,watch core persistentvolumeclaims
delete,update core persistentvolumeclaims
update core pods/finalizers
create,patch,update core,events.k8s.io events
`;

const VERBS = new Map([
  ['read', ['get', 'list', 'watch']],
  ['write', ['create', 'delete', 'deletecollection', 'patch', 'update']],
  ['all', ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']],
]);

/** bootstrapRules returns the initial rules of ClusterRoles, by the name of the role. */
export function bootstrapRules(): ReadonlyMap<string, readonly PolicyRule[]> {
  const roles = new Map<string, PolicyRule[]>();
  let rules: PolicyRule[] = [];
  for (const line of TABLE.trim().split('\n')) {
    if (line.startsWith('[')) {
      rules = [];
      roles.set(line.slice(1, -1), rules);
    } else {
      rules.push(ruleOf(line));
    }
  }
  return roles;
}

function ruleOf(line: string): PolicyRule {
  const [verbs = '', second = '', third, fourth] = line.split(' ');
  const rule = { verbs: VERBS.get(verbs) ?? verbs.split(',') };
  if (third === undefined) return { ...rule, nonResourceURLs: second.split(',') };
  const apiGroups = second.split(',').map((group) => (group === 'core' ? '' : group));
  const resourceNames = fourth?.split(',');
  return { ...rule, apiGroups, resources: third.split(','), ...(resourceNames ? { resourceNames } : {}) };
}
