/** devicesPath returns the path of the HSMDevices of a namespace; poolsPath and secretsPath likewise. */
export const devicesPath = (namespace: string): string => `${base(namespace)}/hsmdevices`;
export const poolsPath = (namespace: string): string => `${base(namespace)}/hsmpools`;
export const hsmSecretsPath = (namespace: string): string => `${base(namespace)}/hsmsecrets`;

function base(namespace: string): string {
  return `/apis/hsm.j5t.io/v1alpha1/namespaces/${namespace}`;
}
