import type { BenchSuite } from '../../suite.ts';
import { defineSuite } from '../../support/define-suite.ts';
import { openScene } from '../../support/scene.ts';
import { command } from './command.ts';
import { memory } from './memory.ts';
import { fullPlan, type Plan, quickPlan } from './plan.ts';
import { list, watchers } from './reads.ts';
import { ready } from './ready.ts';
import type { ControlPlaneScene } from './scene.ts';
import { openEmbedded, realServer } from './servers.ts';
import { start } from './start.ts';
import { subjects } from './subjects.ts';
import { writes } from './writes.ts';

/** suite measures the embedded control plane side by side with a real one. */
export const suite: BenchSuite = defineSuite<ControlPlaneScene, Plan>({
  name: 'control-plane',
  title: 'Embedded control plane',
  plans: { full: fullPlan, quick: quickPlan },
  steps: [
    { name: 'ready', run: ready },
    { name: 'command', run: command },
    { name: 'start', run: start },
    // Before the two servers get any other request.
    { name: 'memory', run: memory },
    { name: 'list', needs: ['memory'], run: list },
    { name: 'watchers', run: watchers },
    { name: 'writes', run: writes },
  ],
  async open(plan, log) {
    const scene = await openScene(subjects, log);
    try {
      const embedded = await openEmbedded(scene, 'embedded');
      return {
        ...scene,
        plan,
        embedded,
        real: realServer(scene),
        async [Symbol.asyncDispose]() {
          await embedded[Symbol.asyncDispose]();
          await scene[Symbol.asyncDispose]();
        },
      };
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
  },
  peers: () => ({}),
  notes: () => [
    'Ratios hold, absolute figures depend on the machine: both servers, the harness and the clients share its cores.',
    'The embedded control plane and its clients are esbuild bundles run by Node with its default flags; the command is the bundled CLI.',
    'Over HTTPS the embedded server writes an audit log, checks client certificates and roles, and runs its controllers and scheduler, all in one process. The controllers of the real one are separate processes, which are counted neither in memory nor in processor time.',
    'For rows on one core, `taskset` limits the server to one core, including its compiler and garbage collector; the writer uses another core.',
    'Writes are measured in a server that has already handled as many; their rate is measured with 32 in flight over HTTPS, and sequentially in process.',
  ],
});
