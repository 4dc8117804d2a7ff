import { type ClientHttp2Session, connect } from 'node:http2';
import { createSecureContext } from 'node:tls';
import type { TlsIdentity } from '@bowline/runtime/certificates';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TestIdentitySource, testAuthority, testIdentity } from '../agent/agent-identities.test-support.ts';
import { type RunningAgent, runningAgent, SERVER_NAME } from '../agent/running-agent.test-support.ts';
import type { AgentService } from '../agent-protocol/agent-service.ts';
import { loadContract, loadGrpc } from '../agent-protocol/contract.ts';
import { MANAGER_NAME } from '../api/names.ts';
import { AgentClients } from './agent-clients.ts';

function agentAs(
  identity: { readonly current: TlsIdentity },
  agent: RunningAgent,
  serverName = SERVER_NAME,
): AgentService {
  const clients = new AgentClients({ identity });
  onTestFinished(() => clients[Symbol.dispose]());
  return clients.agent({ address: agent.address, serverName });
}

/** callOnce makes a call that is not repeated. */
const callOnce = (agent: AgentService): Promise<void> => agent.purge('team/db', 1);

const REFUSED = { problem: 'Unavailable' };

describe('scenario 39: manager and agent authenticate each other', () => {
  it('refuses a client without a certificate', async () => {
    await using agent = await runningAgent();
    const [grpc, { GetInfo }] = await Promise.all([loadGrpc(), loadContract()]);
    const ca = Buffer.from(agent.authority.certificatePem);
    const client = new grpc.Client(agent.address, grpc.credentials.createSsl(ca), {
      'grpc.ssl_target_name_override': SERVER_NAME,
    });
    onTestFinished(() => client.close());
    const call = new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = GetInfo;
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, {}, (error, response) =>
        error ? reject(error) : resolve(response),
      );
    });
    await expect(call).rejects.toMatchObject({ code: grpc.status.UNAVAILABLE });
  });

  it('refuses a certificate of another authority', async () => {
    await using agent = await runningAgent();
    const other = await testAuthority();
    const identity = await testIdentity(other, MANAGER_NAME, 'client', [agent.authority]);
    await expect(callOnce(agentAs({ current: identity }, agent))).rejects.toMatchObject(REFUSED);
  });

  it.each(['manager.hsm-secrets.example.com', 'pico.vault.agent.hsm-secrets', '*.hsm-secrets'])(
    'refuses the certificate of another client, %s',
    async (name) => {
      await using agent = await runningAgent();
      const identity = await testIdentity(agent.authority, name, 'client');
      const call = agentAs({ current: identity }, agent).read('team/db');
      await expect(call).rejects.toThrow(`the client certificate is not valid for ${MANAGER_NAME}`);
      expect(agent.lines).toMatchObject([{ message: 'refused a client with another name', method: 'ReadSecret' }]);
    },
  );

  it('refuses the certificate of a server as that of a client', async () => {
    await using agent = await runningAgent();
    const identity = await testIdentity(agent.authority, MANAGER_NAME, 'server');
    await expect(callOnce(agentAs({ current: identity }, agent))).rejects.toMatchObject(REFUSED);
  });

  it('does not call an agent with another name, or of another authority', async () => {
    await using agent = await runningAgent();
    const another = agentAs(agent.manager, agent, 'pico.other.agent.hsm-secrets');
    await expect(callOnce(another)).rejects.toThrow('not valid for pico.other.agent.hsm-secrets');
    const { certificate } = agent.manager.current;
    const { certificatePem: bundlePem } = await testAuthority();
    await expect(callOnce(agentAs({ current: { certificate, bundlePem } }, agent))).rejects.toMatchObject(REFUSED);
  });

  it('accepts TLS 1.3 only, before and after its certificate is replaced', async () => {
    await using agent = await runningAgent();
    const connectWith = (maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<string> => {
      const { certificate, bundlePem } = agent.manager.current;
      const secureContext = createSecureContext({
        cert: certificate.certificatePem,
        key: certificate.keyPem,
        ca: bundlePem,
        maxVersion,
      });
      const session: ClientHttp2Session = connect(`https://${agent.address}`, {
        secureContext,
        servername: SERVER_NAME,
      });
      return new Promise((resolve) => {
        session.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
        session.once('connect', () => {
          resolve('connected');
          session.destroy();
        });
      });
    };
    expect([await connectWith('TLSv1.3'), await connectWith('TLSv1.2')]).toEqual([
      'connected',
      'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
    ]);
    agent.identity.replace(await testIdentity(agent.authority, SERVER_NAME, 'server'));
    await expect.poll(() => connectWith('TLSv1.2')).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
    expect(await connectWith('TLSv1.3')).toBe('connected');
  });

  it('replaces certificates and authorities under load without a failed call', async () => {
    await using agent = await runningAgent();
    const old = agent.authority;
    const next = await testAuthority();
    const manager = new TestIdentitySource(agent.manager.current);
    const token = agentAs(manager, agent);
    await token.write('team/db', { password: Buffer.from('x') }, {});
    let calls = 0;
    let isDone = false;
    const load = Array.from({ length: 8 }, async (_, index) => {
      while (!isDone) {
        // Writes too: nobody repeats them.
        if (index === 0) await token.write('team/db', { password: Buffer.from('x') }, {});
        else await token.read('team/db');
        calls++;
      }
    });
    const after = async (more: number): Promise<void> => {
      const target = calls + more;
      while (calls < target) await Promise.race([...load, new Promise((resolve) => setImmediate(resolve))]);
    };
    const server = (authority: typeof old, trusted: readonly (typeof old)[]): Promise<TlsIdentity> =>
      testIdentity(authority, SERVER_NAME, 'server', trusted);
    const client = (authority: typeof old, trusted: readonly (typeof old)[]): Promise<TlsIdentity> =>
      testIdentity(authority, MANAGER_NAME, 'client', trusted);
    await after(50);
    // A new certificate of the same authority; then trust in the next one, its certificates, and no trust in the old one.
    agent.identity.replace(await server(old, [old]));
    manager.replace(await client(old, [old]));
    await after(50);
    agent.identity.replace(await server(old, [old, next]));
    await after(50);
    manager.replace(await client(old, [old, next]));
    await after(50);
    manager.replace(await client(next, [old, next]));
    await after(50);
    agent.identity.replace(await server(next, [next, old]));
    await after(50);
    agent.identity.replace(await server(next, [next]));
    manager.replace(await client(next, [next]));
    await after(50);
    isDone = true;
    await Promise.all(load);
    // The old authority is no longer trusted.
    const outdated = await client(old, [old, next]);
    await expect(callOnce(agentAs({ current: outdated }, agent))).rejects.toMatchObject(REFUSED);
  });

  it('serves after a restart on the same port', async () => {
    const agent = await runningAgent();
    const token = agentAs(agent.manager, agent);
    expect((await token.status()).isLoggedIn).toBe(true);
    await agent[Symbol.asyncDispose]();
    await expect(callOnce(token)).rejects.toMatchObject(REFUSED);
    await using again = await runningAgent({ address: agent.address, identity: agent.identity });
    await expect.poll(async () => (await token.status()).isLoggedIn).toBe(true);
    expect(again.address).toBe(agent.address);
  });
});
