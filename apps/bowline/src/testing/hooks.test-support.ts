import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { untilAborted } from '@bowline/machinery';
import { defineOperator, type Operator } from '@bowline/runtime';
import { s } from '@bowline/runtime/resource';
import type { Registry } from '../operators/registry.ts';

/** hooks is an operator with a service that listens on a port, and a scratch folder. */
export const hooks: Operator = defineOperator({
  name: 'hooks',
  domain: 'bowline.dev',
  config: s.object({ hookPort: s.integer().min(0).max(65_535).default(8443), maxMegabytes: s.integer().default(64) }),
  scratchFolder: { sizeLimit: ({ maxMegabytes }) => `${maxMegabytes}M` },
  setup: ({ scratchFolder, log }) => {
    log.warn('scratch folder', { path: scratchFolder() });
  },
  services: [
    {
      name: 'receiver',
      port: ({ hookPort }) => hookPort,
      async run(signal, _, { listensOn }) {
        const server = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1');
        await once(server, 'listening');
        listensOn((server.address() as AddressInfo).port);
        await untilAborted(signal);
        server.closeAllConnections();
        server.close();
      },
    },
    { name: 'poller', leaderOnly: true, run: (signal) => untilAborted(signal) },
  ],
});

/** twin is a second operator whose service uses the same port. */
const twin: Operator = defineOperator({
  name: 'twin',
  domain: 'bowline.dev',
  services: [{ name: 'receiver', port: 8443, run: (signal) => untilAborted(signal) }],
});

/** hooksRegistry is a registry of these operators alone. */
export const hooksRegistry: Registry = {
  hooks: { summary: 'receives hooks', load: () => Promise.resolve(hooks) },
  twin: { summary: 'receives hooks too', load: () => Promise.resolve(twin) },
};
