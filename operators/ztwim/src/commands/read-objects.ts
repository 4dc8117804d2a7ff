import { apiVersionOf } from '@bowline/kubernetes';
import type { FieldProblem } from '@bowline/machinery';
import type { CommandManifest } from '@bowline/runtime/manager';
import type { CustomResource } from '@bowline/runtime/resource';
import { OPERAND_KINDS } from '../api/operand-kinds.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OPERAND_RESOURCES } from '../operand/operand-kind.ts';
import type { SharedObjects } from '../operand/shared-objects.ts';

const KINDS: readonly CustomResource[] = [
  ZeroTrustWorkloadIdentityManager,
  ...OPERAND_KINDS.map((kind) => OPERAND_RESOURCES[kind]),
];

/** ReadObjects holds the five objects of manifests, or what is wrong with the manifests. */
export interface ReadObjects {
  readonly objects: SharedObjects;
  /** Each starts with file and line. */
  readonly problems: readonly string[];
}

/** readObjects finds the five objects in manifests, checks them as the API server does, and adds defaults. */
export function readObjects(manifests: readonly CommandManifest[]): ReadObjects {
  const problems: string[] = [];
  const found = new Map<string, CommandManifest>();
  for (const manifest of manifests) {
    const resource = KINDS.find((each) => isOf(each, manifest));
    if (!resource) {
      problems.push(at(manifest, 'kind', otherKind(manifest)));
      continue;
    }
    const known = found.get(resource.kind);
    if (known) problems.push(at(manifest, 'kind', `${resource.kind} is also in ${placeOf(known)}; keep one of them`));
    else problems.push(...problemsOf(resource, manifest));
    found.set(resource.kind, known ?? manifest);
  }
  // The schemas have checked the objects.
  const objectOf = (resource: CustomResource): unknown => {
    const manifest = found.get(resource.kind);
    return manifest && problems.length === 0 ? resource.withDefaults(manifest.object) : undefined;
  };
  const operands = Object.fromEntries(OPERAND_KINDS.map((kind) => [kind, objectOf(OPERAND_RESOURCES[kind])]));
  const objects = { parent: objectOf(ZeroTrustWorkloadIdentityManager), operands } as SharedObjects;
  return { objects, problems };
}

function isOf(resource: CustomResource, { object }: CommandManifest): boolean {
  return object.apiVersion === apiVersionOf(resource) && object.kind === resource.kind;
}

function problemsOf(resource: CustomResource, manifest: CommandManifest): readonly string[] {
  const { object } = manifest;
  return [
    ...resource.unknownFields(object).map((field) => at(manifest, field, `${field}: unknown field; remove it`)),
    ...fieldProblems(resource.validate(object)).map(({ field, message }) =>
      field === WHOLE_OBJECT ? at(manifest, 'metadata.name', message) : at(manifest, field, `${field}: ${message}`),
    ),
  ];
}

/** How the API server names the whole object. Its only rule is about the name. */
const WHOLE_OBJECT = '<nil>';

/** With other problems, the whole object is only named because its rule was not checked. */
function fieldProblems(problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const fields = problems.filter(({ field }) => field !== WHOLE_OBJECT);
  return fields.length === 0 ? problems : fields;
}

function otherKind({ object }: CommandManifest): string {
  const kinds = KINDS.map(({ kind }) => kind).join(', ');
  const known = KINDS.find(({ kind }) => kind === object.kind);
  if (known) return `${known.kind} is in ${String(object.apiVersion)}; its apiVersion must be ${apiVersionOf(known)}`;
  const kind = typeof object.kind === 'string' && object.kind !== '' ? object.kind : 'an object without a kind';
  return `${kind} is not a kind of ZTWIM; pass only ${kinds}`;
}

function at(manifest: CommandManifest, field: string, problem: string): string {
  return `${manifest.file}:${manifest.lineOf(field)}: ${problem}`;
}

function placeOf(manifest: CommandManifest): string {
  return `${manifest.file}:${manifest.lineOf('kind')}`;
}
