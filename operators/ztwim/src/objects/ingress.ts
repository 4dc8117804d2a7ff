import type { Ingress, ObjectMeta } from '@bowline/kubernetes';
import type { SpireServer } from '../api/spire-server.ts';

type IngressSettings = NonNullable<SpireServer['spec']['ingress']>;
type Backend = NonNullable<NonNullable<Ingress['spec']>['defaultBackend']>;

/** ingressFor returns an Ingress that exposes one Service under one host name. */
export function ingressFor(
  metadata: ObjectMeta,
  defaultHost: string,
  backend: Backend,
  { className, host = defaultHost, annotations, tlsSecretName }: IngressSettings,
): Ingress {
  return {
    metadata: { ...metadata, ...(annotations ? { annotations } : {}) },
    spec: {
      ...(className === undefined ? {} : { ingressClassName: className }),
      rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
      ...(tlsSecretName === undefined ? {} : { tls: [{ hosts: [host], secretName: tlsSecretName }] }),
    },
  };
}
