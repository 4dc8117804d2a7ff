import type { KubernetesObject, ObjectOf, Resource, StatusCause, UserInfo } from '@bowline/kubernetes';
import { applyJsonPatch, type JsonPatchOperation, type VirtualClock } from '@bowline/machinery';
import { defineOperator } from '../operator/operator.ts';
import { withNamespaces, withSourceNamespaces } from '../operator/with-namespaces.ts';
import { withOwnNames } from '../operator/with-own-names.ts';
import type { WrittenOf } from '../resource/custom-resource.ts';
import type { Operation, ReviewResponse } from '../webhook/admission-review.ts';
import { WebhookClients } from '../webhook/dry-run-guard.ts';
import type { Webhook } from '../webhook/webhook.ts';
import { webhookRoute } from '../webhook/webhook-route.ts';
import { WebhookSources } from '../webhook/webhook-sources.ts';
import { completed } from './given.ts';
import {
  type DepsOption,
  UnitTestEnvironment,
  type UnitTestOptions,
  unitTestError,
  unitTestNamespaces,
} from './unit-test-environment.ts';

/** ReviewOptions configures a request to a webhook, besides its objects. */
export interface ReviewOptions {
  /** The requesting user. Defaults to the user `kubernetes-admin` of the group `system:masters`. */
  readonly userInfo?: UserInfo | undefined;
  /** Defaults to false. */
  readonly dryRun?: boolean | undefined;
  /** Defaults to the object itself. */
  readonly subresource?: string | undefined;
}

/** ReviewOutcome is the response of a webhook, as the API server interprets it. */
export interface ReviewOutcome<T> {
  readonly allowed: boolean;
  /** The message for the user. Undefined when the request is allowed. */
  readonly message: string | undefined;
  readonly reason: string | undefined;
  readonly code: number | undefined;
  readonly causes: readonly StatusCause[];
  readonly warnings: readonly string[];
  /** The changes of a mutating webhook. */
  readonly patch: readonly JsonPatchOperation[];
  /** The object after the patch. Undefined when an object is deleted. */
  readonly object: T | undefined;
}

/**
 * WebhookTest calls one webhook. Objects are passed as their authors write them; defaults are applied, as the API
 * server does before it calls a webhook. What the API server decides by itself is not evaluated: selectors and match
 * conditions.
 */
export interface WebhookTest<T extends KubernetesObject, W extends KubernetesObject> extends AsyncDisposable {
  create(object: W | T, options?: ReviewOptions): Promise<ReviewOutcome<T>>;
  update(object: W | T, oldObject: W | T, options?: ReviewOptions): Promise<ReviewOutcome<T>>;
  delete(oldObject: W | T, options?: ReviewOptions): Promise<ReviewOutcome<T>>;
  readonly clock: VirtualClock;
}

const ADMIN: UserInfo = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

/**
 * testWebhook calls a webhook's function without a control plane, through the code that serves it: the request is a
 * real AdmissionReview, and the response is read as the API server reads it. It rejects with the error that the
 * function threw.
 *
 * @example
 * await using t = await testWebhook(Site, checkSites, {}); expect(await t.create({ metadata: { namespace: 'shop', name:
 * 'a' }, spec: { title: '' } })).toMatchObject({ allowed: false });
 */
export async function testWebhook<R extends Resource<KubernetesObject>, Deps>(
  kind: R,
  webhook: Webhook<Deps>,
  options: UnitTestOptions & DepsOption<Deps>,
): Promise<WebhookTest<ObjectOf<R>, WrittenOf<R>>> {
  const { operator: name = 'unit', domain = 'unit.test', permissions = [] } = options;
  if (kind.id !== webhook.kind.id) {
    throw unitTestError(`the webhook ${webhook.name} handles ${webhook.kind.kind}, not ${kind.kind}`);
  }
  const deps = options.deps as Deps;
  const thrown: unknown[] = [];
  const declared: Webhook<unknown> = {
    // Its deps are passed right here.
    ...(webhook as Webhook<unknown>),
    // The route returns a text to the API server that is safe to show; a test needs the error itself.
    handle: async (request: never) => {
      try {
        return await webhook.handle(request);
      } catch (error) {
        thrown.push(error);
        throw error;
      }
    },
  };
  const resolve = unitTestNamespaces(options);
  const operator = withOwnNames(
    defineOperator<unknown>({
      name,
      domain,
      webhooks: [withSourceNamespaces(declared, resolve)],
      permissions: permissions.map((each) => withNamespaces(each, resolve)),
      setup: () => deps,
    }),
  );
  const [observed = declared] = operator.webhooks;
  const environment = new UnitTestEnvironment(operator, options);
  const { cache, clock, log } = environment;
  const sources = new WebhookSources({ webhooks: [observed], cache });
  const clients = new WebhookClients(environment.client, cache);
  const route = webhookRoute(observed, {
    operator: name,
    domain,
    clients,
    cache: sources.readsOf(observed),
    deps,
    clock,
    log,
  });
  environment.start();
  await sources.synced(environment.signal);
  let count = 0;

  const review = async (
    operation: Operation,
    objects: { readonly object?: KubernetesObject; readonly oldObject?: KubernetesObject },
    { userInfo = ADMIN, dryRun = false, subresource }: ReviewOptions = {},
  ): Promise<ReviewOutcome<ObjectOf<R>>> => {
    if (!webhook.operations.includes(operation)) {
      throw unitTestError(`the webhook ${webhook.name} does not handle ${operation}: add it to its operations`);
    }
    const { group, version, plural } = kind;
    const [object, oldObject] = [objects.object, objects.oldObject].map((each) => each && withTypeMeta(kind, each));
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
      const reviewResponse = (await route.respond(body, environment.signal)) as { readonly response: ReviewResponse };
      return outcomeOf(reviewResponse.response, object as ObjectOf<R> | undefined);
    } catch (error) {
      throw thrown.length > 0 ? thrown.pop() : error;
    }
  };
  return {
    create: (object, more) => review('CREATE', { object }, more),
    update: (object, oldObject, more) => review('UPDATE', { object, oldObject }, more),
    delete: (oldObject, more) => review('DELETE', { oldObject }, more),
    clock,
    [Symbol.asyncDispose]: () => environment[Symbol.asyncDispose](),
  };
}

function withTypeMeta(kind: Resource<KubernetesObject>, object: KubernetesObject): KubernetesObject {
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
