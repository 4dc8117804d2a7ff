import type { Manifest } from '../../engine/state/manifest.ts';
import type { SyncPlan } from '../../engine/sync/plan.ts';
import type { Change } from '../../engine/sync/sync-request.ts';
import type { DesiredTree } from '../../engine/tree/tree-entry.ts';
import type { AffectedProjects } from '../../gateway/designer-policy.ts';
import type { ScanKind } from '../../gateway/scan-status.ts';

/** ChangeCounts counts what a sync changes. */
export interface ChangeCounts {
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
}

/** ChangeReport is what a sync is about to change, for the log. */
export interface ChangeReport {
  readonly fromCommit: string | undefined;
  readonly toCommit: string;
  readonly filesAdded: number;
  readonly filesModified: number;
  readonly filesDeleted: number;
  readonly projectsAffected: readonly string[];
  readonly changes: readonly (Change & {
    readonly checksum: { readonly before: string | undefined; readonly after: string | undefined };
  })[];
}

/** Tags and types are used by every project. */
const SHARED = /^config\/resources\/[^/]+\/ignition\/tag-/;
const PROJECT = /^projects\/([^/]+)\/project\.json$/;
const MAX_REPORTED_CHANGES = 1_000;

/** countChanges counts changes by action. */
export function countChanges(changes: readonly Change[]): ChangeCounts {
  const count = (action: Change['action']): number => changes.filter((each) => each.action === action).length;
  return { added: count('add'), modified: count('modify'), deleted: count('delete') };
}

/** affectedProjects returns the projects whose Designers a sync affects. */
export function affectedProjects({ changes, projects }: SyncPlan): AffectedProjects {
  return { projects: new Set(projects), hasSharedChanges: changes.some(({ path }) => SHARED.test(path)) };
}

/** scannedKinds returns the parts of the data folder that a sync changes. */
export function scannedKinds({ changes }: SyncPlan): readonly ScanKind[] {
  const isBelow = (kind: ScanKind): boolean => changes.some(({ path }) => path.startsWith(`${kind}/`));
  return (['projects', 'config'] as const).filter(isBelow);
}

/** projectsIn returns the projects that a tree contains. */
export function projectsIn({ files }: Pick<DesiredTree, 'files'>): string[] {
  return [...files.keys()].flatMap((path) => PROJECT.exec(path)?.[1] ?? []).toSorted();
}

/** reportChanges returns what a sync is about to change. */
export function reportChanges(plan: SyncPlan, manifest: Manifest | undefined, toCommit: string): ChangeReport {
  const { added, modified, deleted } = countChanges(plan.changes);
  const after = new Map(plan.placements.map(({ file }) => [file.path, file.blob]));
  const before = (path: string): string | undefined => {
    const entry = manifest?.files.get(path);
    return entry?.content ?? entry?.blob;
  };
  return {
    fromCommit: manifest?.commit,
    toCommit,
    filesAdded: added,
    filesModified: modified,
    filesDeleted: deleted,
    projectsAffected: plan.projects,
    changes: plan.changes.slice(0, MAX_REPORTED_CHANGES).map((change) => ({
      ...change,
      checksum: { before: before(change.path), after: after.get(change.path) },
    })),
  };
}
