import type { TlsMaterial } from './certificate-source.ts';

/** TlsIdentity holds what one side of a mutual TLS connection needs: its certificate, and the CAs of its peers. */
export interface TlsIdentity {
  readonly certificate: TlsMaterial;
  /** The CAs to trust, in PEM format: the current one, and during a rotation the next and previous ones. */
  readonly bundlePem: string;
}

/** CurrentIdentity holds the identity to use now, and notifies listeners when it changes. */
export class CurrentIdentity {
  readonly #listeners = new Set<(identity: TlsIdentity) => void>();
  #value: TlsIdentity | undefined;

  get value(): TlsIdentity | undefined {
    return this.#value;
  }

  /** set replaces the identity; an equal one has no effect. */
  set(certificate: TlsMaterial | undefined, bundlePem: string): void {
    if (!certificate || bundlePem === '') return;
    const before = this.#value;
    if (before?.certificate.fingerprint === certificate.fingerprint && before.bundlePem === bundlePem) return;
    this.#value = { certificate, bundlePem };
    for (const listener of [...this.#listeners]) listener(this.#value);
  }

  #subscribe(listener: (identity: TlsIdentity) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** changes yields the identity, if there is one, and again when it has changed, until the signal is aborted. */
  async *changes(signal: AbortSignal): AsyncGenerator<TlsIdentity> {
    let seen: TlsIdentity | undefined;
    while (!signal.aborted) {
      const latest = this.#value;
      if (latest && latest !== seen) {
        seen = latest;
        yield latest;
      } else {
        await this.#next(signal).catch(() => undefined);
      }
    }
  }

  /** ready resolves with the first identity. It rejects when the signal is aborted. */
  async ready(signal: AbortSignal): Promise<TlsIdentity> {
    signal.throwIfAborted();
    return this.#value ?? (await this.#next(signal));
  }

  #next(signal: AbortSignal): Promise<TlsIdentity> {
    return new Promise<TlsIdentity>((resolve, reject) => {
      const stop = (): void => {
        subscription[Symbol.dispose]();
        reject(signal.reason as Error);
      };
      const subscription = this.#subscribe((identity) => {
        subscription[Symbol.dispose]();
        signal.removeEventListener('abort', stop);
        resolve(identity);
      });
      signal.addEventListener('abort', stop, { once: true });
    });
  }
}
