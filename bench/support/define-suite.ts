import { describeResult } from '../render.ts';
import type { BenchResult, Measure } from '../result.ts';
import type { BenchSuite } from '../suite.ts';
import { currentLoad, describeMachine } from './machine.ts';
import type { Peer } from './peers.ts';
import type { OpenedScene } from './scene.ts';

/** Step is one part of a suite. */
export interface Step<S> {
  readonly name: string;
  /** The steps that must have run before. Defaults to none. */
  readonly needs?: readonly string[];
  run(scene: S): Promise<readonly Measure[]>;
}

/** SuiteOptions configures a suite of steps that share one scene. */
export interface SuiteOptions<S extends OpenedScene, P> {
  readonly name: string;
  readonly title: string;
  /** How much a run measures: in full, or with `--quick`. */
  readonly plans: { readonly full: P; readonly quick: P };
  /** The measurements in order. */
  readonly steps: readonly Step<S>[];
  open(plan: P, log: (line: string) => void): Promise<S>;
  /** The peers by name, as far as they are available. */
  peers(scene: S): Readonly<Record<string, Peer>>;
  /** Notes needed to interpret the numbers. */
  notes(scene: S): readonly string[];
}

/** defineSuite returns a suite that supports `--quick` and `--only=STEP`, and is kept when it ran completely. */
export function defineSuite<S extends OpenedScene, P>(options: SuiteOptions<S, P>): BenchSuite {
  const { name, title, plans, steps } = options;
  return {
    name,

    keeps: (flags) => flags.length === 0,

    async run({ flags, log }): Promise<BenchResult> {
      const only = readFlags(flags, steps);
      const loadBefore = currentLoad();
      if (loadBefore > 0.5) log(`the machine is busy (load ${loadBefore}): times will not be reliable`);
      await using scene = await options.open(flags.includes('--quick') ? plans.quick : plans.full, log);
      const measures: Measure[] = [];
      const needed = steps.find((step) => step.name === only)?.needs ?? [];
      for (const step of steps) {
        if (only !== undefined && step.name !== only && !needed.includes(step.name)) continue;
        measures.push(...(await step.run(scene)));
      }
      return {
        format: 1,
        suite: name,
        title,
        date: new Date().toISOString(),
        command: [`npm run bench -- ${name}`, ...flags].join(' '),
        machine: describeMachine({ kubernetes: scene.kubernetes, ...versions(options.peers(scene)) }, loadBefore),
        notes: options.notes(scene),
        measures,
      };
    },

    describe: (result) => [
      ...(result.command.includes('--quick')
        ? ['A shortened run: it shows that everything works, but its times are not reliable.']
        : []),
      ...describeResult(result),
    ],
  };
}

/** readFlags returns the requested step, if any. */
function readFlags(flags: readonly string[], steps: readonly { readonly name: string }[]): string | undefined {
  const names = steps.map(({ name }) => name);
  const unknown = flags.find((flag) => flag !== '--quick' && !names.some((name) => flag === `--only=${name}`));
  if (unknown !== undefined) {
    throw new Error(`unknown flag ${unknown}; known flags: --quick, --only=${names.join(', --only=')}`);
  }
  return flags.find((flag) => flag.startsWith('--only='))?.slice('--only='.length);
}

function versions(peers: Readonly<Record<string, Peer>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(peers).flatMap(([name, peer]) => ('skippedBecause' in peer ? [] : [[name, peer.version]])),
  );
}
