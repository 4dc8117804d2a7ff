// The server of an agent in a separate process, as `bowline hsm-secrets agent` serves it, with a software token in place of a worker
// process, so that the token does not limit the manager. On a line it reports the calls so far.
import { systemClock } from '@bowline/machinery';
import { MountedCertificate } from '@bowline/runtime/certificates';
import { createLog } from '@bowline/runtime/manager';
import { serveAgent } from '../../../../operators/hsm-secrets/src/agent/serve-agent.ts';
import { OPERATOR } from '../../../../operators/hsm-secrets/src/api/names.ts';
import { LocalTokenService } from '../../../../operators/hsm-secrets/src/token/local-token-service.ts';
import { SoftwareToken } from '../../../../operators/hsm-secrets/src/token/software-token.ts';
import type { TokenService } from '../../../../operators/hsm-secrets/src/token/token-service.ts';
import { orders, report, subjectInput } from '../../../support/subject.ts';
import { contentOf, pathOf } from '../vault-content.ts';

const { options } = subjectInput();
const log = createLog({ destination: process.stderr });
const pin = Buffer.from(String(options.pin));
const token = new SoftwareToken({ serialNumber: String(options.serialNumber), label: 'bench', pin });
const local = new LocalTokenService({
  open: () => token.open(),
  pin: { current: () => Buffer.from(pin), next: () => undefined },
  attempts: { read: () => undefined, write: () => {} },
  clock: systemClock,
});
for (let index = 0; index < Number(options.secrets); index += 1) await local.write(pathOf(index), contentOf(index), {});

/** The calls of the manager: one call of the token for each. */
const calls = { all: 0, reads: 0, lists: 0 };
const service = new Proxy<TokenService>(local, {
  get(target, method: keyof TokenService) {
    calls.all += 1;
    if (method === 'read') calls.reads += 1;
    if (method === 'list') calls.lists += 1;
    return target[method].bind(target);
  },
});

const stop = new AbortController();
const identity = new MountedCertificate({ operator: OPERATOR, folder: String(options.tlsFolder), log });
const followed = identity.run(stop.signal);
const server = await serveAgent({ service, identity, address: String(options.address), log, signal: stop.signal });
report({ ready: true });
for await (const _order of orders()) report(calls);
stop.abort();
await Promise.all([server.stopped, followed]);
