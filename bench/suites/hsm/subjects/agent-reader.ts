// A client of an agent, as in the manager: writes a secret of three keys, and on a line with a number reads it as often, one read
// after the other.
import { readFileSync } from 'node:fs';
import type { TlsIdentity } from '@bowline/runtime/certificates';
import { AgentClients } from '../../../../operators/hsm-secrets/src/agent-client/agent-clients.ts';
import { subjectInput } from '../../../support/subject.ts';
import { contentOf, pathOf } from '../vault-content.ts';
import { serveReads } from './serve-reads.ts';

const { options } = subjectInput();
const identity = { current: JSON.parse(readFileSync(String(options.identityFile), 'utf8')) as TlsIdentity };
using clients = new AgentClients({ identity });
const agent = clients.agent({ address: String(options.address), serverName: String(options.serverName) });
await agent.write(pathOf(0), contentOf(0), {});
await serveReads(async () => Object.keys((await agent.read(pathOf(0))).data).length);
