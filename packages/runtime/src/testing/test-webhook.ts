import type { KubernetesObject, ObjectOf, Resource, StatusCause, UserInfo } from '@bowline/kubernetes';
import { applyJsonPatch, type JsonPatchOperation, type VirtualClock } from '@bowline/machinery';
import { defineOperator } from '../operator/operator.ts';
import type { WrittenOf } from '../resource/custom-resource.ts';
import type { Operation, ReviewResponse } from '../webhook/admission-review.ts';
import { WebhookClients } from '../webhook/dry-run-guard.ts';
import type { Webhook } from '../webhook/webhook.ts';
import { webhookRoute } from '../webhook/webhook-route.ts';
import { WebhookSources } from '../webhook/webhook-sources.ts';
import { completed } from './given.ts';
import { type DepsOption, type UnitOptions, UnitWorld, unitTestProblem } from './unit-world.ts';

/** ReviewOptions says what a request to a webhook is besides its objects. */
export interface ReviewOptions {
  /** Who asks. Defaults to the user `kubernetes-admin` of the group `system:masters`. */
  readonly userInfo?: UserInfo | undefined;
  /** Defaults to false. */
  readonly dryRun?: boolean | undefined;
  /** Defaults to the object itself. */
  readonly subresource?: string | undefined;
}

/** ReviewOutcome is what a webhook answered, as the API server understands it. */
export interface ReviewOutcome<T> {
  readonly allowed: boolean;
  /** What the user reads. Undefined when the request is allowed. */
  readonly message: string | undefined;
  readonly reason: string | undefined;
  readonly code: number | undefined;
  readonly causes: readonly StatusCause[];
  readonly warnings: readonly string[];
  /** What a mutating webhook changes. */
  readonly patch: readonly JsonPatchOperation[];
  /** The object after the patch. Undefined when an object is deleted. */
  readonly object: T | undefined;
}

/**
 * WebhookTest asks one webhook. Objects are given as their authors write them, with defaults filled in as the API server does
 * before it asks. What the API server decides by itself is not judged: selectors and match conditions.
 */
export interface WebhookTest<T extends KubernetesObject, W extends KubernetesObject> extends AsyncDisposable {
  create(object: W | T, options?: ReviewOptions): Promise<ReviewOutcome<T>>;
  update(object: W | T, oldObject: W | T, options?: ReviewOptions): Promise<ReviewOutcome<T>>;
  delete(oldObject: W | T, options?: ReviewOptions): Promise<ReviewOutcome<T>>;
  readonly clock: VirtualClock;
}

const ADMIN: UserInfo = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

/**
 * testWebhook calls a webhook's function without a control plane, through the code that serves it: the request is a real
 * AdmissionReview, and the answer is read as the API server reads it. It rejects with what the function threw.
 *
 * @example
 * await using t = await testWebhook(Site, checkSites, {});
 * expect(await t.create({ metadata: { namespace: 'shop', name: 'a' }, spec: { title: '' } })).toMatchObject({ allowed: false });
 */
export async function testWebhook<R extends Resource<KubernetesObject>, Deps>(
  kind: R,
  webhook: Webhook<Deps>,
  options: UnitOptions & DepsOption<Deps>,
): Promise<WebhookTest<ObjectOf<R>, WrittenOf<R>>> {
  const { operator: name = 'unit', domain = 'unit.test', permissions = [] } = options;
  if (kind.id !== webhook.kind.id) {
    throw unitTestProblem(`the webhook ${webhook.name} is about ${webhook.kind.kind}, not ${kind.kind}`);
  }
  const deps = options.deps as Deps;
  const thrown: unknown[] = [];
  const observed: Webhook<unknown> = {
    // Its deps are given right here.
    ...(webhook as Webhook<unknown>),
    // The route answers the API server with a text that is safe to show; a test wants the error itself.
    handle: async (request: never) => {
      try {
        return await webhook.handle(request);
      } catch (error) {
        thrown.push(error);
        throw error;
      }
    },
  };
  const operator = defineOperator<unknown>({ name, domain, webhooks: [observed], permissions, setup: () => deps });
  const world = new UnitWorld(operator, options);
  const { cache, clock, log } = world;
  const sources = new WebhookSources({ webhooks: [observed], cache });
  const clients = new WebhookClients(world.client, cache);
  const route = webhookRoute(observed, {
    operator: name,
    domain,
    clients,
    cache: sources.readsOf(observed),
    deps,
    clock,
    log,
  });
  world.start();
  await sources.synced(world.signal);
  let count = 0;

  const review = async (
    operation: Operation,
    objects: { readonly object?: KubernetesObject; readonly oldObject?: KubernetesObject },
    { userInfo = ADMIN, dryRun = false, subresource }: ReviewOptions = {},
  ): Promise<ReviewOutcome<ObjectOf<R>>> => {
    if (!webhook.operations.includes(operation)) {
      throw unitTestProblem(`the webhook ${webhook.name} is not asked about ${operation}: name it in its operations`);
    }
    const { group, version, plural } = kind;
    const [object, oldObject] = [objects.object, objects.oldObject].map((each) => each && typed(kind, each));
    const { metadata } = object ?? oldObject ?? {};
    const request = {
      uid: `unit-${++count}`,
      kind: { group, version, kind: kind.kind },
      resource: { group, version, resource: plural },
      subResource: subresource,
      name: metadata?.name ?? '',
      namespace: metadata?.namespace,
      operation,
      userInfo,
      object,
      oldObject,
      dryRun,
    };
    const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
    try {
      const answer = (await route.answer(body, world.signal)) as { readonly response: ReviewResponse };
      return outcomeOf(answer.response, object as ObjectOf<R> | undefined);
    } catch (error) {
      throw thrown.length > 0 ? thrown.pop() : error;
    }
  };
  return {
    create: (object, more) => review('CREATE', { object }, more),
    update: (object, oldObject, more) => review('UPDATE', { object, oldObject }, more),
    delete: (oldObject, more) => review('DELETE', { oldObject }, more),
    clock,
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

function typed(kind: Resource<KubernetesObject>, object: KubernetesObject): KubernetesObject {
  const { group, version } = kind;
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind: kind.kind, ...completed(kind, object) };
}

function outcomeOf<T>(
  { allowed, status, warnings = [], patch }: ReviewResponse,
  object: T | undefined,
): ReviewOutcome<T> {
  const operations =
    patch === undefined ? [] : (JSON.parse(Buffer.from(patch, 'base64').toString()) as readonly JsonPatchOperation[]);
  return {
    allowed,
    message: status?.message,
    reason: status?.reason,
    code: status?.code,
    causes: status?.details?.causes ?? [],
    warnings,
    patch: operations,
    object: object && operations.length > 0 ? (applyJsonPatch(object, operations) as T) : object,
  };
}
