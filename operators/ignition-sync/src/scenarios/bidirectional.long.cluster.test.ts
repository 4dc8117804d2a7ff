import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { ConfigMap } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { availableGit } from '../../../../test/support/git/git-program.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS, objectNames } from '../api/names.ts';
import { type FakeForge, fakeForge } from '../bidirectional/forges/fake-forge.test-support.ts';
import { desiredHash } from '../protocol/desired-hash.ts';
import { decodeReport } from '../protocol/gateway-report.ts';
import type { SimulatedGateway } from '../simulated-gateway/simulated-gateway.ts';
import { AgentClock, advancing } from './agent-channel.test-support.ts';
import {
  CR,
  POD,
  type SidecarScenario,
  type StartedSidecar,
  startSidecarScenario,
  TOKEN,
} from './sidecar.test-support.ts';

const git = await availableGit();
/** Where GitHub has its API on a host of one's own. */
const API = '/api/v3';
const PROJECT = 'projects/overview';
const VIEW = `${PROJECT}/views/view.json`;
const STEP_MS = 250;
/** A limit for waits that hang: minutes on the clock take a part of that. */
const LIMIT = { timeout: 90_000 };
/** More than the time after which changes are sent again, and branches are queried again. */
const KEPT_MS = 200_000;

describe.skipIf('skippedBecause' in git)('changes of a gateway', () => {
  let c: SidecarScenario;
  let forge: FakeForge;
  let clock: AgentClock;
  let agent: StartedSidecar;
  let gateway: SimulatedGateway;
  let branch: string;
  let round = 0;

  beforeAll(async () => {
    forge = fakeForge('github', { prefix: API, token: TOKEN });
    const time = new VirtualClock();
    clock = new AgentClock(time);
    c = await startSidecarScenario({
      clock: time,
      agentClock: clock,
      repositoryPath: 'team/plant.git',
      gitServer: { answer },
      spec: async () => ({
        bidirectional: {
          enabled: true,
          watchPaths: ['projects'],
          debounce: '5s',
          createPR: true,
          prLabels: ['gateway'],
          forge: 'github',
        },
      }),
    });
    branch = `gateway-changes/${c.namespace}/${POD}`;
    agent = await c.start();
    gateway = agent.gateway();
    await gateway.start();
    await within(c.untilSynced(await c.repository.git('rev-parse', 'main')));
    await within(c.untilCondition(CR, 'BidirectionalReady', { status: 'True', reason: 'WatchersActive' }));
  });
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    await gateway.stop();
    await c[Symbol.asyncDispose]();
  });

  function answer(request: IncomingMessage, response: ServerResponse): boolean {
    if (!request.url?.startsWith(`${API}/`)) return false;
    buffer(request).then(
      (body) => forge.answer(request, response, body),
      () => response.destroy(),
    );
    return true;
  }

  /** within lets time pass for the operator and the agent until the work is done. */
  const within = <T>(work: Promise<T>): Promise<T> => advancing(clock, work, STEP_MS);

  /** pass lets some time pass, during which the operator and the agent work. */
  async function pass(ms: number): Promise<void> {
    const end = clock.monotonic() + ms;
    await advancing(clock, expect.poll(() => clock.monotonic() >= end, LIMIT).toBe(true));
  }

  /** changeOnGateway writes files as a user of the gateway would. */
  async function changeOnGateway(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      const file = join(agent.sidecar.dataFolder, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
  }

  const live = (path: string): Promise<string | undefined> => agent.read(path).catch(() => undefined);
  const pushed = (path: string): Promise<string | undefined> =>
    c.repository.git('show', `${branch}:services/site/${path}`).catch(() => undefined);
  const untilPushed = (path: string, content: string) => within(expect.poll(() => pushed(path), LIMIT).toBe(content));
  const untilLive = (path: string, content: string) => within(expect.poll(() => live(path), LIMIT).toBe(content));
  /** configure changes the settings, and waits until the gateway has them: a sync would overwrite a change that is not known yet. */
  async function configure(bidirectional: object): Promise<void> {
    await c.change(CR, { bidirectional });
    const isApplied = async (): Promise<boolean> => {
      const metadata = await c.metadata(CR);
      if (!isPartOf(bidirectional, metadata.settings.bidirectional)) return false;
      const { data } = await c.admin.get(ConfigMap, c.key(objectNames(CR).status));
      const { syncStatus, appliedHash } = decodeReport(POD, data?.[POD] ?? '');
      return syncStatus === 'Synced' && appliedHash === desiredHash(metadata, POD);
    };
    await within(expect.poll(isApplied, LIMIT).toBe(true));
  }
  const opened = (): number => forge.requests.filter(({ call }) => call === 'POST /repos/team/plant/pulls').length;
  const untilNoConflict = () =>
    within(c.until(IgnitionSync, c.key(CR), (sync) => findCondition(sync, 'ConflictDetected')?.status !== 'True'));

  /**
   * conflict changes a file on the gateway and then in Git, and waits until the gateway has the rest of that commit. It returns
   * both contents.
   */
  async function conflict(conflictStrategy: string) {
    const contents = { ofGateway: `{"gateway": ${++round}}`, ofGit: `{"git": ${round}}` };
    await configure({ conflictStrategy });
    await changeOnGateway({ [VIEW]: contents.ofGateway });
    await untilPushed(VIEW, contents.ofGateway);
    await within(c.until(ConfigMap, c.key(objectNames(CR).changes), ({ data }) => data?.[POD] === undefined));
    const marker = `${PROJECT}/marker.txt`;
    await c.push({ [`services/site/${VIEW}`]: contents.ofGit, [`services/site/${marker}`]: String(round) });
    await untilLive(marker, String(round));
    return contents;
  }

  it('scenario 19 are pushed to its branch, with one pull request', async () => {
    const base = await c.repository.git('rev-parse', 'main');
    await changeOnGateway({ [VIEW]: '{"version": "first"}' });
    await untilPushed(VIEW, '{"version": "first"}');
    expect(await c.repository.git('rev-parse', `${branch}^`)).toBe(base);
    await within(
      expect.poll(() => [...forge.open]).toEqual([[branch, { number: 7, base: 'main', labels: ['gateway'] }]]),
    );
    const { note } = await within(c.untilEvent(CR, 'PRCreated'));
    expect(note).toContain('https://forge.example.com/team/plant/pulls/7');
    await changeOnGateway({ [VIEW]: '{"version": "second"}', [`${PROJECT}/added.txt`]: 'added' });
    await untilPushed(VIEW, '{"version": "second"}');
    expect(await pushed(`${PROJECT}/added.txt`)).toBe('added');
    await within(c.until(ConfigMap, c.key(objectNames(CR).changes), ({ data }) => data?.[POD] === undefined));
    expect(opened()).toBe(1);
  });

  it('scenario 19 are overwritten with gitWins, after a backup', async () => {
    const { ofGateway, ofGit } = await conflict('gitWins');
    expect(await live(VIEW)).toBe(ofGit);
    const replaced = join(agent.sidecar.dataFolder, '.ignition-sync/replaced');
    const [last = ''] = (await readdir(replaced)).toSorted().toReversed();
    expect(await readFile(join(replaced, last, VIEW), 'utf8')).toBe(ofGateway);
  });

  it('scenario 19 are kept with gatewayWins until the pull request is closed', async () => {
    const { ofGateway, ofGit } = await conflict('gatewayWins');
    await pass(KEPT_MS);
    expect(await live(VIEW)).toBe(ofGateway);
    await within(c.untilCondition(CR, 'ConflictDetected', { status: 'True', message: VIEW }));
    forge.open.delete(branch);
    await untilLive(VIEW, ofGit);
    await untilNoConflict();
  });

  it('scenario 19 are kept with manual until the annotation retry changes', async () => {
    const { ofGateway, ofGit } = await conflict('manual');
    expect(await live(VIEW)).toBe(ofGateway);
    await within(c.untilCondition(CR, 'ConflictDetected', { status: 'True', message: CR_ANNOTATIONS.retry }));
    forge.open.delete(branch);
    await pass(KEPT_MS);
    expect(await live(VIEW)).toBe(ofGateway);
    await c.annotate(CR, { [CR_ANNOTATIONS.retry]: 'decided' });
    await untilLive(VIEW, ofGit);
    await untilNoConflict();
  });

  it.each([
    ['more files than allowed', { maxFilesPerPR: 1 }, { maxFilesPerPR: 100 }, 'maxFilesPerPR is 1'],
    ['a file that is too large', { maxFileSize: '1Ki' }, { maxFileSize: '10Mi' }, 'larger than guardrails.maxFileSize'],
  ])(
    'scenario 19 are not sent with %s, and are sent when the guardrail allows it',
    async (_, limit, raised, message) => {
      await configure({ conflictStrategy: 'gitWins', guardrails: limit });
      const before = await c.repository.git('rev-parse', branch);
      const [one, two] = [`${PROJECT}/one-${++round}.txt`, `${PROJECT}/two-${round}.txt`];
      await changeOnGateway({ [one]: 'x'.repeat(2048), [two]: '2' });
      const report = await within(c.untilReport(({ errorReason }) => errorReason === 'GuardrailExceeded'));
      expect(report.errorMessage).toContain(message);
      expect(report.errorMessage).toContain(one);
      expect(await c.repository.git('rev-parse', branch)).toBe(before);
      await configure({ guardrails: raised });
      await untilPushed(two, '2');
      expect(await pushed(one)).toHaveLength(2048);
      await within(c.untilReport(({ errorReason }) => errorReason === undefined));
    },
  );

  it('scenario 19 are sent without excluded files', async () => {
    await configure({ guardrails: { excludePatterns: ['**/*.tmp'] } });
    await changeOnGateway({ [`${PROJECT}/draft.tmp`]: 'draft', [`${PROJECT}/final.txt`]: 'final' });
    await untilPushed(`${PROJECT}/final.txt`, 'final');
    expect(await pushed(`${PROJECT}/draft.tmp`)).toBeUndefined();
  });

  it('scenario 19 wait for credentials that may push', async () => {
    await c.repository.git('config', 'http.receivepack', 'false');
    await changeOnGateway({ [VIEW]: '{"version": "last"}' });
    await within(c.untilCondition(CR, 'BidirectionalReady', { status: 'False', reason: 'PushRefused' }));
    await c.repository.git('config', 'http.receivepack', 'true');
    await untilPushed(VIEW, '{"version": "last"}');
    await within(c.untilCondition(CR, 'BidirectionalReady', { status: 'True' }));
  });
});

/** isPartOf returns whether an object has all fields of another. */
function isPartOf(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return isDeepStrictEqual(part, whole);
  return Object.entries(part).every(([name, value]) => isPartOf(value, (whole as Record<string, unknown>)?.[name]));
}
