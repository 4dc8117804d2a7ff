import { type KubernetesObject, keyOf, type ObjectKey, type Resource, type Status } from '@bowline/kubernetes';
import type {
  AccessQuestion,
  Client,
  DeleteOptions,
  List,
  ListOptions,
  PagesOptions,
  Patch,
  PathQuestion,
  ReadTextOptions,
  RequestOptions,
  ReviewOptions,
  StreamTextOptions,
  Subject,
  TextStream,
  WatchOptions,
  WatchStream,
  WritableResource,
  WriteOptions,
} from '../client/client.ts';
import { isReview } from '../client/reviews.ts';
import { isStatus, stillExists } from '../writing/deletion.ts';

/** LiveClient is the API server as a reconcile sees it: a client without a lifecycle of its own. */
export type LiveClient = Omit<
  Client,
  | 'fieldManager'
  | 'guarded'
  | 'checked'
  | 'withFieldManager'
  | 'withToken'
  | 'onLeaseLane'
  | 'close'
  | typeof Symbol.asyncDispose
>;

/** WriteRecorder is notified of every write, so that reads see it before the watch does. A Cache is one. */
export interface WriteRecorder {
  recordWrite(resource: Resource, object: KubernetesObject): void;
  recordDelete(resource: Resource, key: ObjectKey, identity: { uid: string; resourceVersion?: string }): void;
}

/**
 * RecordingClient forwards calls, binds them to a signal, and records the results of writes. One is created per
 * reconcile that uses `live`.
 */
export class RecordingClient implements LiveClient {
  readonly #client: Client;
  readonly #recorder: WriteRecorder;
  readonly #signal: AbortSignal;
  readonly #fieldManager: string | undefined;
  #hasWritten = false;

  /**
   * `fieldManager` applies to writes that name none, if the client has none either. Defaults to the API server's
   * choice.
   */
  constructor(client: Client, recorder: WriteRecorder, signal: AbortSignal, fieldManager?: string) {
    this.#client = client;
    this.#fieldManager = client.fieldManager ?? fieldManager;
    this.#recorder = recorder;
    this.#signal = signal;
  }

  /** hasWritten reports whether anything was written or a write was attempted. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  get<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions & { subresource?: string },
  ): Promise<T> {
    return this.#client.get(resource, key, this.#withSignal(options));
  }

  find<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions,
  ): Promise<T | undefined> {
    return this.#client.find(resource, key, this.#withSignal(options));
  }

  list<T extends KubernetesObject>(resource: Resource<T>, options?: ListOptions): Promise<List<T>> {
    return this.#client.list(resource, this.#withSignal(options));
  }

  pages<T extends KubernetesObject>(resource: Resource<T>, options?: PagesOptions): AsyncIterable<List<T>> {
    return this.#client.pages(resource, this.#withSignal(options));
  }

  readText<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: ReadTextOptions,
  ): Promise<string> {
    return this.#client.readText(resource, key, this.#withSignal(options));
  }

  streamText<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: StreamTextOptions,
  ): Promise<TextStream> {
    return this.#client.streamText(resource, key, this.#withSignal(options));
  }

  watch<T extends KubernetesObject>(resource: Resource<T>, options?: WatchOptions): Promise<WatchStream<T>> {
    return this.#client.watch(resource, this.#withSignal(options));
  }

  async create<T extends KubernetesObject, W extends KubernetesObject = T>(
    resource: WritableResource<T, W>,
    object: NoInfer<W>,
    options?: WriteOptions,
  ): Promise<T> {
    // A review stores nothing, so there is nothing to record.
    if (isReview(resource)) return await this.#client.create(resource, object, this.#withSignal(options));
    return this.#recordResponse(
      resource,
      await this.#client.create(resource, object, this.#withFieldManager(options)),
      options,
    );
  }

  async update<T extends KubernetesObject, W extends KubernetesObject = T>(
    resource: WritableResource<T, W>,
    object: NoInfer<T | W>,
    options?: WriteOptions,
  ): Promise<T> {
    return this.#recordResponse(
      resource,
      await this.#client.update(resource, object, this.#withFieldManager(options)),
      options,
    );
  }

  async patch<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T> {
    return this.#recordResponse(
      resource,
      await this.#client.patch(resource, key, patch, this.#withFieldManager(options)),
      options,
    );
  }

  async delete<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<T | Status> {
    const response = await this.#client.delete(resource, key, this.#writeOptions(options));
    if (options?.dryRun) return response;
    const uid = isStatus(response) ? response.details?.uid : response.metadata?.uid;
    if (!isStatus(response) && stillExists(response)) this.#recorder.recordWrite(resource, response);
    else if (uid) this.#recorder.recordDelete(resource, key, { uid });
    return response;
  }

  deleteCollection<T extends KubernetesObject>(
    resource: Resource<T>,
    options?: DeleteOptions & ListOptions,
  ): Promise<void> {
    return this.#client.deleteCollection(resource, this.#writeOptions(options));
  }

  requestToken(
    serviceAccount: ObjectKey,
    options?: Parameters<Client['requestToken']>[1],
  ): ReturnType<Client['requestToken']> {
    return this.#client.requestToken(serviceAccount, this.#withSignal(options));
  }

  canI(question: AccessQuestion | PathQuestion, options?: RequestOptions): ReturnType<Client['canI']> {
    return this.#client.canI(question, this.#withSignal(options));
  }

  canSubject(
    subject: Subject,
    question: AccessQuestion | PathQuestion,
    options?: ReviewOptions,
  ): ReturnType<Client['canSubject']> {
    return this.#client.canSubject(subject, question, this.#withSignal(options));
  }

  raw(path: string, options?: RequestOptions & { accept?: string }): Promise<string> {
    return this.#client.raw(path, this.#withSignal(options));
  }

  #withFieldManager(options: WriteOptions | undefined): WriteOptions {
    const { fieldManager = this.#fieldManager, ...others } = this.#writeOptions(options ?? {});
    return fieldManager === undefined ? others : { ...others, fieldManager };
  }

  #writeOptions<O extends RequestOptions & { readonly dryRun?: boolean | undefined }>(options: O | undefined): O {
    this.#hasWritten ||= options?.dryRun !== true;
    return this.#withSignal(options);
  }

  #withSignal<O extends RequestOptions>(options: O | undefined): O {
    const own = options?.signal;
    const signal = own && own !== this.#signal ? AbortSignal.any([own, this.#signal]) : this.#signal;
    // O only narrows RequestOptions by optional members, so this object satisfies it.
    return { ...options, signal } as O;
  }

  /** The response to a write of a subresource other than status (`scale`, `eviction`, `token`) is of another kind. */
  #recordResponse<T extends KubernetesObject>(
    resource: Resource<T>,
    response: T,
    options: WriteOptions | undefined,
  ): T {
    const isWholeObject = options?.subresource === undefined || options.subresource === 'status';
    if (!isWholeObject || options?.dryRun || !keyOf(response).name) return response;
    const { uid, resourceVersion, deletionTimestamp } = response.metadata ?? {};
    // The write removed the last finalizer. The API server returns the object with its old version, although it is gone.
    if (uid && resourceVersion && deletionTimestamp !== undefined && !stillExists(response))
      this.#recorder.recordDelete(resource, keyOf(response), { uid, resourceVersion });
    else this.#recorder.recordWrite(resource, response);
    return response;
  }
}
