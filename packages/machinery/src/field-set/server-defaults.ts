const RBAC = 'rbac.authorization.k8s.io';

/**
 * The values that kube-apiserver fills in inside values that server-side apply owns as a whole, by definition and
 * member. Elsewhere a default has no owner and needs no entry here. Inside such a value, a default cannot be
 * distinguished from a previously applied field unless it is listed. Values that the schemas contain as `default` need
 * no entry.
 *
 * A value that is missing here costs only one request per restart of the operator.
 */
export const SERVER_DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'admissionregistration-v1.MatchResources': { matchPolicy: 'Equivalent' },
  'admissionregistration-v1.NamedRuleWithOperations': { scope: '*' },
  'admissionregistration-v1.RuleWithOperations': { scope: '*' },
  'batch-v1.PodFailurePolicyOnPodConditionsPattern': { status: 'True' },
  'core-v1.EndpointPort': { protocol: 'TCP' },
  'core-v1.ObjectFieldSelector': { apiVersion: 'v1' },
  'core-v1.PersistentVolumeClaim': { apiVersion: 'v1', kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } },
  'core-v1.PersistentVolumeClaimSpec': { volumeMode: 'Filesystem' },
  'core-v1.PodCertificateProjection': { maxExpirationSeconds: 86_400 },
  'core-v1.ResourceFieldSelector': { divisor: '0' },
  'core-v1.ServiceAccountTokenProjection': { expirationSeconds: 3600 },
  'discovery-v1.EndpointPort': { protocol: 'TCP' },
  'networking-v1.NetworkPolicyPort': { protocol: 'TCP' },
  'rbac-v1.RoleRef': { apiGroup: RBAC },
  'rbac-v1.Subject': { apiGroup: RBAC },
};
