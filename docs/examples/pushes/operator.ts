import { createServer } from 'node:http';
import { untilAborted } from '@bowline/machinery';
import { defineOperator, type Operator } from '@bowline/runtime';
import { KeyStream } from '@bowline/runtime/controller';
import type { Service } from '@bowline/runtime/manager';
import { Checkout } from './checkout.ts';
import { checkouts, type GitDeps } from './controller.ts';

/**
 * receiver accepts `POST /?repository=…`. It runs only on the leader, like the controller that consumes its pushes.
 * It is only an example: a real receiver verifies a signature.
 */
const receiver: Service<GitDeps> = {
  name: 'receiver',
  leaderOnly: true,
  async run(signal, { pushes }, { listensOn }) {
    const server = createServer((request, response) => {
      const repository = new URL(request.url ?? '/', 'http://receiver').searchParams.get('repository');
      if (request.method === 'POST' && repository) pushes.add(repository);
      response.writeHead(repository ? 202 : 400).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (typeof address === 'object' && address) listensOn(address.port);
    await untilAborted(signal);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  },
};

/** git is an operator that is notified of changes outside of Kubernetes by a webhook. */
export function git({ headOf }: Pick<GitDeps, 'headOf'>): Operator {
  return defineOperator<GitDeps>({
    name: 'git',
    domain: 'example.com',
    resources: [Checkout],
    controllers: [checkouts],
    setup: () => ({ pushes: new KeyStream(), headOf }),
    services: [receiver],
  });
}
