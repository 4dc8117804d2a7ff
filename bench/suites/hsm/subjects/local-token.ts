// The token layer of the worker in the same process, without an agent, a worker process and their messages.
import { systemClock } from '@bowline/machinery';
import { loadPkcs11 } from '../../../../operators/hsm-secrets/src/pkcs11/load-pkcs11.ts';
import { Pkcs11Module } from '../../../../operators/hsm-secrets/src/pkcs11/pkcs11-module.ts';
import { LocalTokenService } from '../../../../operators/hsm-secrets/src/token/local-token-service.ts';
import { subjectInput } from '../../../support/subject.ts';
import { pathOf } from '../vault-content.ts';
import { serveReads } from './serve-reads.ts';

const { options } = subjectInput();
const module = new Pkcs11Module({
  load: () => loadPkcs11({ library: String(options.library), pkcs11js: String(options.pkcs11js) }),
  choice: { tokenLabel: String(options.label) },
});
const token = new LocalTokenService({
  open: () => module.open(),
  pin: { current: () => Buffer.from(String(options.pin)), next: () => undefined },
  attempts: { read: () => undefined, write: () => {} },
  clock: systemClock,
});
await serveReads(async () => Object.keys((await token.read(pathOf(0))).data).length);
