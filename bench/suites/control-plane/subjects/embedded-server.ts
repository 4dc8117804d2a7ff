// The embedded control plane as a server: HTTPS, audit log, controllers and scheduler, no nodes, like the real one here.
import { writeFileSync } from 'node:fs';
import { startControlPlane } from '@bowline/control-plane';
import { connectionOf } from '../../../support/connection.ts';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';

const { options } = subjectInput();
await using controlPlane = await startControlPlane({ kind: 'embedded', nodes: 0 });
// With a certificate, like the administrator of the real one.
const kubeconfig = await controlPlane.kubeconfig({ user: 'bench', groups: ['system:masters'] });
writeFileSync(String(options.connectionFile), JSON.stringify(connectionOf(kubeconfig)), { mode: 0o600 });
report({ url: controlPlane.url });
await untilReleased();
