import type { FieldProblem } from '@bowline/machinery';
import { refusal } from '../authorization/refusal.ts';
import { clearMeta, metaProblems, prepareNewMeta } from '../objects/object-meta.ts';
import { draftOf, viewed } from '../printing/render.ts';
import type { ApiResource, Draft, Strategy, WriteContext } from '../registry/api-resource.ts';
import { alreadyExists, badRequest, invalid, otherNamespace, StatusError } from '../status/api-status.ts';
import { keyIn, type Stored } from '../storage/stored.ts';
import { type RequestContext, resourceName, reviewParts } from './context.ts';
import type { WriteOptions } from './write-options.ts';

/** How often a name is generated again because it is taken. */
const MAX_GENERATED_NAMES = 8;

/** WriteResult is the result of a write: a stored object, or the draft that a dry run would have stored. */
export interface WriteResult {
  readonly isNew: boolean;
  readonly stored?: Stored | undefined;
  readonly draft: Draft;
}

/** createObject stores a new object: it is completed, admitted and validated, and then written atomically. */
export async function createObject(
  context: RequestContext,
  object: Draft,
  options: WriteOptions,
  { tracksFields = true }: { readonly tracksFields?: boolean } = {},
): Promise<WriteResult> {
  const { resource, info, storage, clock, random, admission, fields, user } = context;
  const { metadata } = object;
  if (info.name !== '' && metadata.name !== undefined && metadata.name !== info.name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${info.name})`);
  }
  if (metadata.resourceVersion)
    throw new StatusError(500, undefined, 'resourceVersion should not be set on objects to be created');
  const now = clock.now();
  const write: WriteContext = { user, now, dryRun: options.dryRun };
  const isGenerated = !metadata.name && !!metadata.generateName;
  const strategy = resource.strategy;
  clearMeta(object);
  strategy.applyDefaults?.(object);
  // Fields that the server or a webhook adds from here on have no owner.
  if (tracksFields) fields.created(resource, object, { manager: options.fieldManager, subresource: '', now });
  const review = {
    operation: 'CREATE' as const,
    resource,
    subresource: '',
    namespace: info.namespace,
    name: metadata.name ?? '',
    object,
    old: undefined,
    ...reviewParts(context, options),
  };
  await admission.mutate(review);
  if (resource.scope === 'Namespaced' && metadata.namespace !== info.namespace) throw otherNamespace();
  strategy.applyDefaults?.(object);
  // Fields that only the server sets come last: webhooks cannot change them.
  prepareNewMeta(object, random, now);
  strategy.prepareForCreate?.(object, write);
  if (countsGenerations(resource)) metadata.generation = 1;
  const loading = strategy.loadForValidate?.(object);
  if (loading) await loading;
  const allocation = { storage, random, dryRun: options.dryRun };
  strategy.allocate?.(object, undefined, allocation);
  refuseInvalid(resource, object, problemsOf(strategy, resource, object, undefined, write));
  context.warnings.push(...(strategy.warningsOf?.(object, undefined) ?? []));
  checkMayCreate(context);
  await admission.validate({ ...review, name: metadata.name ?? '' });

  for (let attempt = 1; ; attempt++) {
    const name = metadata.name ?? '';
    const key = keyIn(metadata.namespace, name);
    admission.commit({ ...review, name });
    if (options.dryRun && !storage.get(resource.collection, key)) return { isNew: true, draft: object };
    if (!options.dryRun) strategy.allocate?.(object, undefined, allocation);
    const stored = options.dryRun ? undefined : storage.create(resource.collection, key, object);
    if (stored) return { isNew: true, stored: viewed(resource, stored), draft: object };
    if (!isGenerated || attempt >= MAX_GENERATED_NAMES) {
      const existing = storage.get(resource.collection, key);
      const isTerminating = existing !== undefined && draftOf(existing).metadata.deletionTimestamp !== undefined;
      throw alreadyExists(resourceName(context), name, isTerminating);
    }
    metadata.name = undefined;
    prepareNewMeta(object, random, now);
    if (countsGenerations(resource)) metadata.generation = 1;
  }
}

/** An update or an apply that creates a missing object also needs the right to create it. */
function checkMayCreate({ authorizer, user, info }: RequestContext): void {
  if (info.verb === 'create') return;
  const attributes = { ...info, verb: 'create' } as const;
  const { allowed, reason } = authorizer.authorize(user, attributes);
  if (!allowed) throw refusal(user, attributes, reason);
}

/** countsGenerations reports whether objects of the kind have a generation: kinds that only hold data do not. */
export function countsGenerations({ strategy }: ApiResource): boolean {
  return strategy.countsGeneration !== undefined;
}

/** problemsOf returns all problems of an object. */
export function problemsOf(
  strategy: Strategy,
  resource: ApiResource,
  object: Draft,
  old: Draft | undefined,
  write: WriteContext,
): FieldProblem[] {
  return [...metaProblems(object, old, resource), ...strategy.validate(object, old, write)];
}

/** refuseInvalid throws the error for the client if there are problems. */
export function refuseInvalid(
  { group, kind }: ApiResource,
  { metadata }: Draft,
  problems: readonly FieldProblem[],
): void {
  if (problems.length > 0) throw invalid({ group, kind }, metadata.name ?? metadata.generateName ?? '', problems);
}
