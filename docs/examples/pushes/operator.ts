import { createServer } from 'node:http';
import { untilAborted } from '@bowline/machinery';
import { defineOperator, type Operator } from '@bowline/runtime';
import type { Service } from '@bowline/runtime/manager';
import { Checkout } from './checkout.ts';
import { checkouts, type GitDeps } from './controller.ts';
import { Pushes } from './pushes.ts';

/** GitOptions says where pushes arrive, and how a repository is asked. */
export interface GitOptions extends Pick<GitDeps, 'headOf'> {
  /** Called with the port of the receiver once it listens. */
  readonly onListening: (port: number) => void;
}

/**
 * receiver takes `POST /?repository=…`. It runs where the controller does: on another replica nobody would follow its pushes.
 * It is an example: a real one checks a signature.
 */
function receiver(onListening: GitOptions['onListening']): Service<GitDeps> {
  return {
    name: 'receiver',
    leaderOnly: true,
    async run(signal, { pushes }) {
      const server = createServer((request, response) => {
        const repository = new URL(request.url ?? '/', 'http://receiver').searchParams.get('repository');
        if (request.method === 'POST' && repository) pushes.add(repository);
        response.writeHead(repository ? 202 : 400).end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      if (typeof address === 'object' && address) onListening(address.port);
      await untilAborted(signal);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** git is an operator that learns of changes outside Kubernetes from a webhook. */
export function git({ headOf, onListening }: GitOptions): Operator {
  return defineOperator<GitDeps>({
    name: 'git',
    domain: 'example.com',
    resources: [Checkout],
    controllers: [checkouts],
    setup: () => ({ pushes: new Pushes(), headOf }),
    services: [receiver(onListening)],
  });
}
