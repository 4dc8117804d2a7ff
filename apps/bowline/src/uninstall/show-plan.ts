import { keyOf } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';
import { type OutputFormat, printValue } from '../terminal/output-format.ts';
import { hasOurFinalizer, type KindInScope, objectsOf } from './operator-objects.ts';
import type { Plan } from './plan-uninstall.ts';
import { describe } from './run-uninstall.ts';

/** KindCount holds how many objects of a kind an install managed. */
export interface KindCount {
  readonly kind: string;
  readonly operator: string;
  readonly objects: number;
  /** How many of them have one of our finalizers. */
  readonly held: number;
  /** How many of these are being deleted: without their operator their deletion policies are not applied. */
  readonly terminating: number;
}

/** countObjects counts the objects that are affected. */
export async function countObjects(
  client: Pick<Client, 'list'>,
  kinds: readonly KindInScope[],
  signal: AbortSignal,
): Promise<readonly KindCount[]> {
  const counts: KindCount[] = [];
  for (const kind of kinds) {
    const count = { objects: 0, held: 0, terminating: 0 };
    for await (const page of objectsOf(client, kind, signal)) {
      for (const object of page) {
        const isHeld = hasOurFinalizer(object, kind);
        // Of other kinds, only objects with the operator's finalizer concern it.
        if (!kind.isOwn && !isHeld) continue;
        count.objects += 1;
        if (isHeld) count.held += 1;
        if (isHeld && object.metadata?.deletionTimestamp !== undefined) count.terminating += 1;
      }
    }
    counts.push({ kind: kind.resource.kind, operator: kind.scope.operator, ...count });
  }
  return counts;
}

/** showPlan formats a plan for people or programs. */
export function showPlan(
  plan: Plan,
  counts: readonly KindCount[],
  options: { readonly deleteResources: boolean; readonly format: OutputFormat },
): Promise<string> {
  const { deleteResources, format } = options;
  const value = {
    namespace: plan.namespace,
    operators: plan.operators,
    deleteResources,
    resources: counts,
    steps: plan.steps.map(({ name, objects }) => ({
      name,
      remove: objects.map(({ resource, object }) => ({ kind: resource.kind, ...keyOf(object) })),
    })),
  };
  return printValue(value, format, () => planTable(plan, counts, deleteResources));
}

function planTable(plan: Plan, counts: readonly KindCount[], deleteResources: boolean): string {
  const steps = plan.steps.map(({ name, objects }) => [name, objects.map(describe)] as const);
  const before = deleteResources ? [['objects', counts.map(deletion)] as const] : [];
  const released: readonly (readonly [string, readonly string[]])[] = deleteResources
    ? [['kinds', counts.map(({ kind }) => `CustomResourceDefinition of ${kind}`)]]
    : [['finalizers', counts.filter(({ held }) => held > 0).map(({ held, kind }) => `of ${held} ${kind}`)]];
  const [configuration] = steps.filter(([name]) => name === 'configuration');
  const others = steps.filter(([name]) => name !== 'configuration');
  const shown = [...before, ...others, ...released, ...(configuration ? [configuration] : [])].filter(
    ([, what]) => what.length > 0,
  );
  const titles = shown.map(([name], index) => `${index + 1}. ${name}  `);
  const width = Math.max(...titles.map(({ length }) => length));
  const lines = shown.flatMap(([, what], index) =>
    what.map((each, at) => `  ${(at === 0 ? (titles[index] ?? '') : '').padEnd(width)}${each}`),
  );
  // If the install was removed by other means, its namespace may be gone too.
  const home = plan.steps.length > 0 ? [`the namespace ${plan.namespace}`] : [];
  const written = deleteResources
    ? 'the objects that the deletion policies retain'
    : `all ${plan.steps.some(({ name }) => name === 'created-workloads') ? 'other ' : ''}objects that the operators wrote`;
  const staying = [...(deleteResources ? [] : kept(counts)), ...home];
  return [
    title(plan),
    '',
    ...lines,
    '',
    ...(deleteResources ? [] : warnings(counts)),
    `Kept: ${staying.length > 0 ? `${staying.join(', ')}, and ` : ''}${written}.`,
    '',
  ].join('\n');
}

function title({ operators, namespace, steps }: Plan): string {
  const names = operators.join(', ');
  if (steps.length > 0) return `Uninstalls ${names} from namespace ${namespace}. Removes, in this order:`;
  return `No process runs ${names}, but objects still have its finalizers. Removes, in this order:`;
}

function deletion({ objects, kind }: KindCount): string {
  return `${objects} ${kind}, according to their deletion policies`;
}

function kept(counts: readonly KindCount[]): readonly string[] {
  return counts.map(({ objects, kind }) => `${objects} ${kind} and their CRD`);
}

function warnings(counts: readonly KindCount[]): readonly string[] {
  return counts
    .filter(({ terminating }) => terminating > 0)
    .map(
      ({ terminating, kind }) =>
        `Note: ${terminating} ${kind} are being deleted; their deletion policies are not applied.`,
    );
}
