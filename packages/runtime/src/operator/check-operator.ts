import { apiVersionOf, parseApiVersion, type Resource } from '@bowline/kubernetes';
import { describeProblems, labelSelector } from '@bowline/machinery';
import type { Controller } from '../controller/controller.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { domainProblem, vendorOf } from '../identity/operator-identity.ts';
import { installNamespaceId } from '../permissions/install-namespaces.ts';
import { type CustomResource, isCustomResource } from '../resource/custom-resource.ts';
import type { Command, Sample } from './command.ts';
import { flagName, inputFlagName, RESERVED_FLAGS } from './command-flags.ts';
import type { Operator } from './operator.ts';
import { scratchFolderProblem } from './scratch-folder.ts';
import { servicePortProblem } from './service.ts';
import { declaredNamespaces } from './with-namespaces.ts';

/** checkOperator throws BOWLINE_OPERATOR_INVALID for an operator that cannot work as declared. */
export function checkOperator(operator: Operator): void {
  const { name, domain, controllers, webhooks, services, commands, resources, dependencies, kubectlPlugin } = operator;
  const [problem] = [
    ...nameProblems(name, domain),
    ...(controllers.length + services.length + webhooks.length === 0
      ? ['it has neither controllers nor services nor webhooks']
      : []),
    ...duplicateProblems('controller', controllers),
    ...duplicateProblems('webhook', webhooks),
    ...duplicateProblems('service', services),
    ...duplicateProblems('command', commands),
    ...labelProblems('service', services),
    ...services.flatMap((service) => servicePortProblem(name, service) ?? []),
    ...[scratchFolderProblem(name, operator.scratchFolder) ?? []].flat(),
    ...commands.flatMap((command) => [...checkCommand(command), ...flagProblems(command)]),
    ...groupProblems(commands),
    ...pluginProblems(kubectlPlugin, commands),
    ...duplicateProblems(
      'kind',
      [...resources, ...dependencies].map(({ id }) => ({ name: id })),
    ),
    ...checkNamespaces(operator),
    ...checkControllers(operator),
    ...checkCompanions(operator),
    ...checkWorkloads(operator),
    ...checkSamples(operator),
  ];
  if (problem === undefined) return;
  throw new BowlineError('BOWLINE_OPERATOR_INVALID', `cannot define the operator "${name}": ${problem}`);
}

function nameProblems(name: string, domain: string): string[] {
  const problem = domainProblem(domain);
  if (problem !== undefined) return [problem];
  // The name is used as a label value, prefixed with the vendor and a dash.
  const max = MAX_LABEL_CHARACTERS - vendorOf(domain).length - 1;
  return isLabel(name, max)
    ? []
    : [`the name must be a DNS label (lower-case letters, digits and dashes) of at most ${max} characters`];
}

const MAX_LABEL_CHARACTERS = 63;

function isLabel(name: string, longest = MAX_LABEL_CHARACTERS): boolean {
  return name.length <= longest && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(name);
}

function labelProblems(what: string, named: readonly { readonly name: string }[]): string[] {
  return named
    .filter(({ name }) => !isLabel(name))
    .map(({ name }) => `the ${what} name "${name}" must be a DNS label (lower-case letters, digits and dashes)`);
}

function checkCommand({ name, args }: Command): string[] {
  const given = Object.entries(args);
  const last = given.length - 1;
  const misplaced = given.find(
    ([, { optional }], at) => !optional && given.slice(0, at).some(([, each]) => each.optional),
  );
  const greedy = given.find(([, { variadic }], at) => variadic && at < last);
  return [
    ...(name.split(' ').every((word) => isLabel(word))
      ? []
      : [
          `the command name "${name}" must consist of DNS labels (lower-case letters, digits and dashes) separated by single spaces`,
        ]),
    ...given
      .filter(([argument]) => !isLabel(argument))
      .map(([argument]) => `the argument "${argument}" of the command "${name}" must be a DNS label`),
    ...(misplaced
      ? [`the required argument "${misplaced[0]}" of the command "${name}" follows an optional one; reorder them`]
      : []),
    ...(greedy
      ? [`the argument "${greedy[0]}" of the command "${name}" takes all remaining words, so it must be the last`]
      : []),
  ];
}

/** The program adds flags of its own, and an input has a flag too. */
function flagProblems({ name, options, flags, inputs }: Command): string[] {
  const fields = Object.entries(options?.json.properties ?? {});
  const names = [
    ...fields.map(([field]) => flagName(field)),
    ...Object.entries(inputs).map(([input, form]) => inputFlagName(input, form)),
  ];
  const reserved = names.find((flag) => RESERVED_FLAGS.has(flag));
  const again = names.find((flag, at) => names.indexOf(flag) < at);
  const single = fields.find(([field, { type }]) => flags[field]?.repeatable && type !== 'array');
  const unbounded = Object.entries(inputs).find(([, { maxBytes }]) => !Number.isSafeInteger(maxBytes) || maxBytes < 1);
  const prompted = Object.entries(inputs).find(
    ([, { keyed, manifests, optional, prompt }]) => (keyed || manifests || optional) && prompt !== undefined,
  );
  const ambiguous = Object.entries(inputs).find(
    ([, { keyed, manifests, optional }]) => manifests && (keyed || optional),
  );
  return [
    ...(reserved ? [`the flag --${reserved} of the command "${name}" is a flag of the program; rename it`] : []),
    ...(again ? [`the flag --${again} of the command "${name}" is declared twice; rename one of them`] : []),
    ...(single ? [`the option "${single[0]}" of the command "${name}" is repeatable, so it must be a list`] : []),
    ...(unbounded ? [`the input "${unbounded[0]}" of the command "${name}" must have a maxBytes of at least 1`] : []),
    ...(prompted
      ? [
          `the input "${prompted[0]}" of the command "${name}" is keyed or optional, or has manifests, so it cannot have a prompt; remove one of them`,
        ]
      : []),
    ...(ambiguous
      ? [
          `the input "${ambiguous[0]}" of the command "${name}" has manifests, so it cannot be keyed or optional; remove one of them`,
        ]
      : []),
  ];
}

function pluginProblems(plugin: string | undefined, commands: readonly Command[]): string[] {
  if (plugin === undefined) return [];
  if (!isLabel(plugin)) return [`the kubectl plugin name "${plugin}" must be a DNS label`];
  return commands.length === 0 ? [`the kubectl plugin "${plugin}" has no commands; declare commands, or omit it`] : [];
}

/** A word cannot be both a command and a group of commands: the words after it would be ambiguous. */
function groupProblems(commands: readonly Command[]): string[] {
  return commands.flatMap(({ name }) => {
    const inside = commands.find((other) => other.name.startsWith(`${name} `));
    return inside ? [`the command name "${name}" is also the group of "${inside.name}"; rename one of them`] : [];
  });
}

function duplicateProblems(what: string, named: readonly { readonly name: string }[]): string[] {
  const names = named.map(({ name }) => name);
  const again = names.find((name, index) => names.indexOf(name) < index);
  return again === undefined
    ? []
    : [`the ${what} name "${again}" is used twice; names must be unique because they identify metrics and logs`];
}

function checkControllers({ controllers }: Operator): string[] {
  return [
    ...controllers
      .filter(({ unusedFinalizer }) => unusedFinalizer !== undefined)
      .map(
        ({ name, unusedFinalizer }) =>
          `the controller ${name} sets the finalizer ${unusedFinalizer} but has no cleanup; add a cleanup, or omit the finalizer`,
      ),
    ...conflictingControllers(controllers, ({ finalization }) => finalization?.finalizer).map(
      ({ both, kind, share }) =>
        `${both} both clean up ${kind} under the finalizer ${share}, so the first to finish would release the object; set another "finalizer" on one of them`,
    ),
    ...conflictingControllers(
      controllers,
      ({ summarize }, kind) => summarize && isCustomResource(kind) && kind.hasStatus,
    ).map(
      ({ both, kind }) =>
        `${both} both write the Ready condition of ${kind} and would overwrite each other; set summarize: false on one of them`,
    ),
  ];
}

/**
 * conflictingControllers returns controllers of one kind, in any of its versions, that share what only one of them can
 * have.
 */
function conflictingControllers<T>(
  controllers: readonly Controller[],
  shareOf: (controller: Controller, kind: Resource) => T,
): { both: string; kind: string; share: T }[] {
  const found: ReturnType<typeof conflictingControllers<T>> = [];
  const first = new Map<string, string>();
  for (const controller of controllers) {
    const primary = controller.sources.find(({ role }) => role === 'primary')?.resource;
    const share = primary && shareOf(controller, primary);
    if (!primary || !share) continue;
    const { group, plural, kind } = primary;
    const id = `${group}/${plural} ${String(share)}`;
    const other = first.get(id);
    if (other === undefined) first.set(id, controller.name);
    else found.push({ both: `the controllers ${other} and ${controller.name}`, kind, share });
  }
  return found;
}

/** A placeholder that nothing replaces would be the name of a namespace that cannot exist. */
function checkNamespaces({ namespaces, controllers, webhooks, permissions }: Operator): string[] {
  const ids = namespaces.map(({ id }) => ({ name: id }));
  const listed = typeof permissions === 'function' ? [] : permissions;
  const used = [...declaredNamespaces(controllers, webhooks, listed)].flatMap((each) => installNamespaceId(each) ?? []);
  const unknown = used.find((id) => !ids.some(({ name }) => name === id));
  return [
    ...labelProblems('namespace', ids),
    ...duplicateProblems('namespace', ids),
    ...(unknown === undefined
      ? []
      : [`it works in the namespace ${unknown}, which \`namespaces\` does not list; add it there`]),
  ];
}

/** Companions are told apart by kind and name. */
function checkCompanions({ companions }: Operator): string[] {
  const ids = companions.map(({ resource, suffix }) => `${resource.kind} ${suffix}`);
  const again = ids.find((id, index) => ids.indexOf(id) < index);
  return [
    ...labelProblems(
      'companion',
      companions.map(({ suffix }) => ({ name: suffix })),
    ),
    ...(again === undefined ? [] : [`the companion ${again} is declared twice; choose another name for one of them`]),
  ];
}

/** A selector that also selects objects without labels would select the workloads of others. */
function checkWorkloads({ createdWorkloads }: Operator): string[] {
  return createdWorkloads
    .filter((each) => labelSelector(each.labelSelector).matches({}))
    .map(
      (each) =>
        `the label selector "${each.labelSelector}" of its ${each.resource.kind} objects also selects objects without labels; require a label that only this operator sets`,
    );
}

function checkSamples({ samples, ...operator }: Operator): string[] {
  const resources = [...operator.resources, ...operator.dependencies];
  return samples.flatMap((sample) => {
    const { apiVersion = '', kind } = sample;
    const { group } = parseApiVersion(apiVersion);
    const versions = resources.filter((each) => each.kind === kind && each.group === group);
    const own = versions.find((each) => apiVersionOf(each) === apiVersion);
    const name = `its sample ${kind} ${sample.metadata?.name ?? ''}`;
    if (own) return sampleProblems(own, sample).map((problem) => `${name} is not valid: ${problem}`);
    // Kinds that the operator does not define cannot be checked here.
    const [instead] = versions.map(apiVersionOf);
    return instead === undefined
      ? []
      : [`${name} is in ${apiVersion}, which the operator does not define; use ${instead}`];
  });
}

/** The API server would silently drop an unknown field of a sample. */
function sampleProblems(resource: CustomResource, sample: Sample): string[] {
  const problems = resource.validate(sample);
  return [
    ...(problems.length === 0 ? [] : [describeProblems(problems)]),
    ...resource.unknownFields(sample).map((path) => `${path}: unknown field`),
  ];
}
