import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@bowline/runtime/manager';
import { expect, it, vi } from 'vitest';
import { AgentClients } from '../agent-client/agent-clients.ts';
import { MANAGER_NAME } from '../api/names.ts';
import { testAuthority, testIdentity } from './agent-identities.test-support.ts';
import { runAgent } from './run-agent.ts';
import { SERVER_NAME } from './running-agent.test-support.ts';
import { realWorker } from './worker/worker-command.test-support.ts';

it('serves and is alive, but not ready, while its token cannot be used, and stops', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-agent-'));
  const authority = await testAuthority();
  const { certificate, bundlePem } = await testIdentity(authority, SERVER_NAME, 'server');
  const { certificatePem, keyPem } = certificate;
  for (const [name, text] of Object.entries({ 'tls.crt': certificatePem, 'tls.key': keyPem, 'ca.crt': bundlePem })) {
    await writeFile(join(folder, name), text);
  }
  const stop = new AbortController();
  let port = 0;
  let health = 0;
  const running = runAgent(
    {
      worker: {
        library: '/nonexistent.so',
        pkcs11js: 'pkcs11js-is-missing',
        pinFile: join(folder, 'pin'),
        stateFolder: join(folder, 'state'),
        autoProvision: false,
      },
      workerCommand: await realWorker(),
      tlsFolder: folder,
      listen: '127.0.0.1:0',
      healthListen: '127.0.0.1:0',
      pcscd: false,
      log: silentLog,
      onListening: (listening) => {
        port = listening;
      },
      onHealthListening: (listening) => {
        health = listening;
      },
    },
    stop.signal,
  );
  try {
    const get = async (path: string): Promise<[number, string]> => {
      const response = await fetch(`http://127.0.0.1:${health}${path}`);
      return [response.status, await response.text()];
    };
    const waiting = { timeout: 20_000, interval: 20 };
    await vi.waitFor(
      async () => expect((await get('/readyz'))[1]).toMatch(/^Pkcs11Unavailable: .*npm install/),
      waiting,
    );
    expect([(await get('/livez'))[0], (await get('/readyz'))[0]]).toEqual([200, 503]);
    await vi.waitFor(() => expect(port).toBeGreaterThan(0), waiting);
    using clients = new AgentClients({ identity: { current: await testIdentity(authority, MANAGER_NAME, 'client') } });
    const agent = clients.agent({ address: `127.0.0.1:${port}`, serverName: SERVER_NAME });
    expect(await agent.status()).toMatchObject({ isLoggedIn: false, problem: { reason: 'Pkcs11Unavailable' } });
    await expect(agent.read('team/db')).rejects.toMatchObject({ problem: 'Pkcs11Unavailable' });
    await expect(agent.provePin(Buffer.alloc(16))).rejects.toMatchObject({ problem: 'PINMissing' });
    await writeFile(join(folder, 'pin'), '1234');
    expect(await agent.provePin(Buffer.alloc(16))).toHaveLength(32);
  } finally {
    stop.abort();
    await running;
    await rm(folder, { recursive: true });
  }
});

it('names a folder that cannot be created', async () => {
  const worker = {
    library: '/a.so',
    pinFile: '/pin',
    stateFolder: `${import.meta.filename}/state`,
    autoProvision: false,
  };
  const options = { worker, tlsFolder: '/tls', listen: ':0', healthListen: ':0', pcscd: false, log: silentLog };
  await expect(runAgent(options, new AbortController().signal)).rejects.toMatchObject({
    code: 'BOWLINE_HSM_STATE_FOLDER',
    message: expect.stringContaining('run-agent.test.ts/state (ENOTDIR)'),
  });
});
