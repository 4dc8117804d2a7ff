import { VirtualClock } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { TokenAgents } from '../testing/token-agents.test-support.ts';
import { TokenError } from '../token/token-error.ts';
import { type ChecksumAnswer, ChecksumRounds } from './checksum-rounds.ts';

const paths = (): readonly string[] => ['a', 'b'];

async function setUp() {
  const clock = new VirtualClock();
  const agent = new TokenAgents(clock).add({ namespace: 'hsm', name: 'pico' }, 'S1');
  for (const path of ['a', 'b', 'c']) await agent.write(path, { value: path });
  return { clock, agent, rounds: new ChecksumRounds(clock) };
}

const versionIn = (answer: ChecksumAnswer): number | undefined =>
  'summary' in answer ? answer.summary?.version : undefined;

it('answers all requests of an interval with one call', async () => {
  const { clock, agent, rounds } = await setUp();
  const asked = ['a', 'b', 'a'].map((path) => rounds.ask(agent, { path, since: 0, paths }));
  expect((await Promise.all(asked)).map(versionIn)).toEqual([1, 1, 1]);
  await clock.advance(1_000);
  await rounds.ask(agent, { path: 'b', since: 0, paths });
  expect(agent.calls).toEqual(['checksums a,b']);
  await rounds.ask(agent, { path: 'a', since: 1_000, paths });
  expect(agent.calls).toHaveLength(2);
});

it('calls again for a path that was not asked for, and for an answer that must be new', async () => {
  const { agent, rounds } = await setUp();
  await rounds.ask(agent, { path: 'a', since: 0, paths });
  expect(versionIn(await rounds.ask(agent, { path: 'c', since: 0, paths }))).toBe(1);
  await agent.write('a', { value: 'changed' });
  expect(versionIn(await rounds.ask(agent, { path: 'a', since: 0, paths }))).toBe(1);
  expect(versionIn(await rounds.ask(agent, { path: 'a', since: undefined, paths }))).toBe(2);
  expect(agent.calls).toEqual(['checksums a,b', 'checksums a,b,c', 'checksums a,b']);
});

it('answers the requests that arrive during a call together', async () => {
  const { agent, rounds } = await setUp();
  const none = (): readonly string[] => [];
  const first = rounds.ask(agent, { path: 'a', since: 0, paths: none });
  await Promise.resolve();
  await Promise.resolve();
  await Promise.all([first, ...['b', 'c'].map((path) => rounds.ask(agent, { path, since: 0, paths: none }))]);
  expect(agent.calls).toEqual(['checksums a', 'checksums b,c']);
});

it('repeats a failure only after a while, and after a change of the agent', async () => {
  const { clock, agent, rounds } = await setUp();
  agent.failure = new TokenError('Timeout', 'no answer');
  const ask = () => rounds.ask(agent, { path: 'a', since: 0, paths });
  expect(await ask()).toEqual({ error: agent.failure });
  expect(await ask()).toEqual({ error: agent.failure });
  expect(agent.calls).toHaveLength(1);
  await clock.advance(5_000);
  await ask();
  expect(agent.calls).toHaveLength(2);
  agent.failure = undefined;
  rounds.forget(agent);
  expect(versionIn(await ask())).toBe(1);
});

it('does not quote errors of unknown origin', async () => {
  const { agent, rounds } = await setUp();
  agent.failure = new RangeError('a value') as never;
  const answer = await rounds.ask(agent, { path: 'a', since: 0, paths });
  expect('error' in answer && answer.error.message).toBe('the call failed with an unexpected RangeError');
});
