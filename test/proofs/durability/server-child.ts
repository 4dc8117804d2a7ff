// The control plane that the durability proof kills: an embedded one with its data in the given folder.
import { startControlPlane } from '@bowline/control-plane/start';

/** Access holds how to connect to a control plane in another process. */
export interface Access {
  readonly url: string;
  /** In PEM. */
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

process.on('disconnect', () => process.exit(0));
const controlPlane = await startControlPlane({
  kind: 'embedded',
  dataDir: process.argv[2],
  nodes: 0,
  scheduler: false,
  workloads: false,
  onError: (error) => console.error(error),
});
const { clusters, users } = await controlPlane.kubeconfig({ user: 'prover', groups: ['system:masters'] });
const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
const { user } = users[0];
if ('token' in user) throw new TypeError('a user must have a certificate');
const pem = (data: string): string => Buffer.from(data, 'base64').toString();
const access: Access = {
  url: server,
  ca: pem(ca),
  certificate: pem(user['client-certificate-data']),
  key: pem(user['client-key-data']),
};
process.send?.(access);
