import type { Container, EnvVar, Volume } from '@bowline/kubernetes/core-v1';
import { SERVER } from '../spire/names.ts';
import type { OperandInput } from './operand-input.ts';

const VOLUME = 'trusted-ca';
const CA_DIR = '/run/trusted-ca';
/** Go's programs read the CAs of the image from a file, and from these folders in addition. */
const CA_DIRS = `/etc/ssl/certs:${CA_DIR}`;

/** withProxy returns a container with the proxy, if there is one. Variables of the container's own keep their value. */
export function withProxy(input: OperandInput, container: Container): Container {
  const { proxy } = input.pods;
  if (!proxy) return container;
  const own = new Set(container.env?.map(({ name }) => name));
  const env = [...(container.env ?? []), ...variablesOf(input).filter(({ name }) => !own.has(name))];
  const mount = { name: VOLUME, mountPath: CA_DIR, readOnly: true };
  return {
    ...container,
    ...(env.length > 0 ? { env } : {}),
    ...(proxy.trustedCAConfigMap === undefined ? {} : { volumeMounts: [...(container.volumeMounts ?? []), mount] }),
  };
}

/** proxyVolumes returns the volumes that withProxy mounts. */
export function proxyVolumes({ pods: { proxy } }: OperandInput): readonly Volume[] {
  return proxy?.trustedCAConfigMap === undefined
    ? []
    : [{ name: VOLUME, configMap: { name: proxy.trustedCAConfigMap } }];
}

function variablesOf(input: OperandInput): readonly EnvVar[] {
  const { httpProxy, httpsProxy, trustedCAConfigMap } = input.pods.proxy ?? {};
  const variables = {
    HTTP_PROXY: httpProxy,
    HTTPS_PROXY: httpsProxy,
    NO_PROXY: httpProxy === undefined && httpsProxy === undefined ? undefined : directHosts(input),
    SSL_CERT_DIR: trustedCAConfigMap === undefined ? undefined : CA_DIRS,
  };
  return Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
}

/** Kubelet replaces the reference with the address at which pods reach the API server. */
function directHosts({ pods, config }: OperandInput): string {
  const { operandNamespace, clusterDomain } = config;
  const hosts = [
    'localhost',
    '127.0.0.1',
    '$(KUBERNETES_SERVICE_HOST)',
    'kubernetes.default',
    '.svc',
    `.${clusterDomain}`,
    // Agents use this name, which does not end like the others.
    `${SERVER}.${operandNamespace}`,
    ...(pods.proxy?.noProxy?.split(',') ?? []),
  ];
  return [...new Set(hosts.filter((host) => host !== ''))].join(',');
}
