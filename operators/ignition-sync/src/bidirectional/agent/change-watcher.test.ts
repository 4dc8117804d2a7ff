import { VirtualClock } from '@bowline/machinery';
import { silentLog } from '@bowline/runtime/manager';
import { expect, it, onTestFinished, vi } from 'vitest';
import { decodeChanges } from '../changes/change-set.ts';
import { COMMIT, watchedFolder } from './agent.test-support.ts';
import { type ChangeProblem, ChangeWatcher, WALK_MS } from './change-watcher.ts';

const DEBOUNCE_MS = 30_000;

async function start(settings: object = {}) {
  const watched = await watchedFolder({ 'services/site/projects/line/view.json': '{"a":1}' });
  const clock = new VirtualClock();
  const sent: string[][] = [];
  const problems: (ChangeProblem | undefined)[] = [];
  let walks = 0;
  let isPaused = false;
  const watcher = new ChangeWatcher({
    current: async () => {
      walks++;
      return isPaused ? undefined : await watched.state(settings);
    },
    sender: { send: async (_, parts) => void sent.push([...parts]) },
    onProblem: (problem) => problems.push(problem),
    clock,
    log: silentLog,
  });
  const stop = new AbortController();
  const running = watcher.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
    await watched[Symbol.asyncDispose]();
  });
  /** walk lets the watcher walk once, after some time. */
  const walk = async (ms = WALK_MS): Promise<void> => {
    const before = walks;
    await vi.waitFor(() => expect(clock.nextDueInMs).toBeDefined(), { interval: 2 });
    await clock.advance(ms);
    await vi.waitFor(() => expect(walks).toBeGreaterThan(before), { interval: 2 });
    // The walk has ended when the next one is scheduled.
    await vi.waitFor(() => expect(clock.nextDueInMs).toBe(WALK_MS), { interval: 2 });
  };
  return {
    ...watched,
    sent,
    problems,
    walk,
    pause: (value: boolean) => {
      isPaused = value;
    },
  };
}

const pathsIn = (parts: readonly string[] | undefined): readonly string[] =>
  (parts ?? []).flatMap((part) => decodeChanges('site', part).files.map(({ path }) => path));

it('sends changes when no file has changed for the debounce time, once', async () => {
  const { live, walk, sent } = await start();
  await walk(DEBOUNCE_MS);
  live.write('projects/line/view.json', '{"a":2}');
  for (let passed = 0; passed < DEBOUNCE_MS - WALK_MS; passed += WALK_MS) await walk();
  live.write('projects/line/new.json', '{}');
  for (let passed = 0; passed < DEBOUNCE_MS; passed += WALK_MS) await walk();
  expect(sent).toEqual([]);
  await walk();
  expect(sent.map(pathsIn)).toEqual([
    ['services/site/projects/line/new.json', 'services/site/projects/line/view.json'],
  ]);
  expect(decodeChanges('site', sent[0]?.[0] ?? '')).toMatchObject({
    gateway: 'site',
    commit: COMMIT,
    part: 1,
    parts: 1,
  });
  for (let count = 0; count < 10; count++) await walk();
  expect(sent).toHaveLength(1);
});

it('reports a guardrail when it is exceeded and when it no longer is, and sends nothing meanwhile', async () => {
  const { live, walk, sent, problems } = await start({ guardrails: { maxFilesPerPR: 1 }, debounce: '1s' });
  live.write('projects/line/one.json', '{}');
  live.write('projects/line/two.json', '{}');
  for (let count = 0; count < 4; count++) await walk();
  expect([sent, problems]).toEqual([[], [expect.objectContaining({ reason: 'GuardrailExceeded' })]]);
  live.write('projects/line/view.json', '{"a":3}');
  for (let count = 0; count < 4; count++) await walk();
  expect([sent.length, problems.length]).toEqual([0, 2]);
});

it('sends nothing while a sync runs or the IgnitionSync is paused', async () => {
  const { live, walk, sent, pause } = await start({ debounce: '1s' });
  pause(true);
  live.write('projects/line/view.json', '{"a":2}');
  for (let count = 0; count < 4; count++) await walk();
  expect(sent).toEqual([]);
  pause(false);
  for (let count = 0; count < 3; count++) await walk();
  expect(sent).toHaveLength(1);
});
