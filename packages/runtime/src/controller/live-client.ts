import { type KubernetesObject, keyOf, type ObjectKey, type Resource, type Status } from '@bowline/kubernetes';
import type {
  AccessQuestion,
  Client,
  DeleteOptions,
  List,
  ListOptions,
  PagesOptions,
  Patch,
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
import { isStatus, livesOn } from '../writing/deletion.ts';

/** LiveClient is the API server as a reconcile sees it: a client without a lifecycle of its own. */
export type LiveClient = Omit<
  Client,
  'fieldManager' | 'guarded' | 'checked' | 'withFieldManager' | 'onLeaseLane' | 'close' | typeof Symbol.asyncDispose
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
    return this.#client.get(resource, key, this.#tied(options));
  }

  find<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: RequestOptions,
  ): Promise<T | undefined> {
    return this.#client.find(resource, key, this.#tied(options));
  }

  list<T extends KubernetesObject>(resource: Resource<T>, options?: ListOptions): Promise<List<T>> {
    return this.#client.list(resource, this.#tied(options));
  }

  pages<T extends KubernetesObject>(resource: Resource<T>, options?: PagesOptions): AsyncIterable<List<T>> {
    return this.#client.pages(resource, this.#tied(options));
  }

  readText<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: ReadTextOptions,
  ): Promise<string> {
    return this.#client.readText(resource, key, this.#tied(options));
  }

  streamText<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: StreamTextOptions,
  ): Promise<TextStream> {
    return this.#client.streamText(resource, key, this.#tied(options));
  }

  watch<T extends KubernetesObject>(resource: Resource<T>, options?: WatchOptions): Promise<WatchStream<T>> {
    return this.#client.watch(resource, this.#tied(options));
  }

  async create<T extends KubernetesObject, W extends KubernetesObject = T>(
    resource: WritableResource<T, W>,
    object: NoInfer<W>,
    options?: WriteOptions,
  ): Promise<T> {
    return this.#written(resource, await this.#client.create(resource, object, this.#managed(options)), options);
  }

  async update<T extends KubernetesObject, W extends KubernetesObject = T>(
    resource: WritableResource<T, W>,
    object: NoInfer<T | W>,
    options?: WriteOptions,
  ): Promise<T> {
    return this.#written(resource, await this.#client.update(resource, object, this.#managed(options)), options);
  }

  async patch<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T> {
    return this.#written(resource, await this.#client.patch(resource, key, patch, this.#managed(options)), options);
  }

  async delete<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<T | Status> {
    const answer = await this.#client.delete(resource, key, this.#writing(options));
    if (options?.dryRun) return answer;
    const uid = isStatus(answer) ? answer.details?.uid : answer.metadata?.uid;
    if (!isStatus(answer) && livesOn(answer)) this.#recorder.recordWrite(resource, answer);
    else if (uid) this.#recorder.recordDelete(resource, key, { uid });
    return answer;
  }

  deleteCollection<T extends KubernetesObject>(
    resource: Resource<T>,
    options?: DeleteOptions & ListOptions,
  ): Promise<void> {
    return this.#client.deleteCollection(resource, this.#writing(options));
  }

  requestToken(
    serviceAccount: ObjectKey,
    options?: Parameters<Client['requestToken']>[1],
  ): ReturnType<Client['requestToken']> {
    return this.#client.requestToken(serviceAccount, this.#tied(options));
  }

  mayI(question: AccessQuestion, options?: RequestOptions): ReturnType<Client['mayI']> {
    return this.#client.mayI(question, this.#tied(options));
  }

  maySubject(subject: Subject, question: AccessQuestion, options?: ReviewOptions): ReturnType<Client['maySubject']> {
    return this.#client.maySubject(subject, question, this.#tied(options));
  }

  raw(path: string, options?: RequestOptions & { accept?: string }): Promise<string> {
    return this.#client.raw(path, this.#tied(options));
  }

  #managed(options: WriteOptions | undefined): WriteOptions {
    const { fieldManager = this.#fieldManager, ...others } = this.#writing(options ?? {});
    return fieldManager === undefined ? others : { ...others, fieldManager };
  }

  #writing<O extends RequestOptions & { readonly dryRun?: boolean | undefined }>(options: O | undefined): O {
    this.#hasWritten ||= options?.dryRun !== true;
    return this.#tied(options);
  }

  #tied<O extends RequestOptions>(options: O | undefined): O {
    const own = options?.signal;
    const signal = own && own !== this.#signal ? AbortSignal.any([own, this.#signal]) : this.#signal;
    // O only narrows RequestOptions by optional members, so this object satisfies it.
    return { ...options, signal } as O;
  }

  /** The response to a write of a subresource other than status (`scale`, `eviction`, `token`) is of another kind. */
  #written<T extends KubernetesObject>(resource: Resource<T>, answer: T, options: WriteOptions | undefined): T {
    const whole = options?.subresource === undefined || options.subresource === 'status';
    if (whole && !options?.dryRun && keyOf(answer).name) this.#recorder.recordWrite(resource, answer);
    return answer;
  }
}
