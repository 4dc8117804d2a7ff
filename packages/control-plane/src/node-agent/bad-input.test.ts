import { createClient, type Transport } from '@bowline/runtime/client';
import { expect, test } from 'vitest';
import { type NodeAgentOptions, startNodeAgent } from './start-node-agent.ts';
import { type Steering, steering } from './steer.ts';

/** Nothing in this file may send a request. */
const unused: Transport = {
  host: 'unused',
  request: ({ method, path }) => Promise.reject(new Error(`unexpected ${method} ${path}`)),
  close: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
const client = createClient({ transport: unused });

test.each<[Partial<NodeAgentOptions>, string]>([
  [{ nodes: -1 }, 'nodes must be an integer from 0 to 5000, not -1'],
  [{ nodes: 1.5 }, 'nodes must be an integer from 0 to 5000, not 1.5'],
  [{ nodes: 5001 }, 'nodes must be an integer from 0 to 5000, not 5001'],
  [{ nodes: ['a', { name: 'a' }] }, 'two of its nodes have the same name'],
  [{ name: '' }, 'the name "" must be a label value'],
  [{ name: 'a b' }, 'the name "a b" must be a label value'],
  [{ network: '10.0.0.0' }, '"10.0.0.0" is not an IPv4 network'],
])('%j → BOWLINE_NODE_AGENT_OPTIONS: %s', async (options, text) => {
  await expect(startNodeAgent({ client, ...options })).rejects.toMatchObject({
    code: 'BOWLINE_NODE_AGENT_OPTIONS',
    message: expect.stringContaining(text),
  });
});

test.each<[string, (by: Steering) => Promise<unknown>, string, string]>([
  ['no namespace', ({ pods }) => pods.hold({ name: 'web' }), 'BOWLINE_STEERING_INVALID', 'specify a namespace'],
  [
    'an invalid selector',
    ({ pods }) => pods.hold({ namespace: 'demo', selector: 'app in' }),
    'BOWLINE_SELECTOR_INVALID',
    'app in',
  ],
  [
    'a negative exit code',
    ({ pods }) => pods.crash({ namespace: 'demo' }, { exitCode: -1 }),
    'BOWLINE_STEERING_INVALID',
    '"exitCode" of "crash" must be a non-negative integer',
  ],
  [
    'a message that is no text',
    ({ volumes }) => volumes.fail({ namespace: 'demo' }, { message: 5 as never }),
    'BOWLINE_STEERING_INVALID',
    '"message" of "fail" must be a string',
  ],
])('steering with %s is rejected before anything is sent', async (_, steer, code, text) => {
  await expect(steer(steering(client))).rejects.toMatchObject({ code, message: expect.stringContaining(text) });
});
