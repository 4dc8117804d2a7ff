/** KubeletResponse is the response of a kubelet. */
interface KubeletResponse {
  readonly status: number;
  readonly body: AsyncIterable<string>;
}

/**
 * KubeletRequester sends a GET request to a kubelet. It rejects if there is no response; the body ends when the signal is
 * aborted.
 */
export type KubeletRequester = (url: URL, signal: AbortSignal) => Promise<KubeletResponse>;

/** How long a kubelet may take to start its response. A log that is followed may then be silent for any time. */
const MAX_SILENCE_MS = 30_000;

/**
 * requestKubeletOverHttps sends the request over the network. Like an API server without `--kubelet-certificate-authority`
 * it accepts any certificate of a kubelet: kubelets sign their own.
 */
export const requestKubeletOverHttps: KubeletRequester = async (url, signal) => {
  const { request } = await import('node:https');
  return new Promise((resolve, reject) => {
    const sent = request(url, { rejectUnauthorized: false, signal, timeout: MAX_SILENCE_MS }, (response) => {
      response.setTimeout(0);
      response.setEncoding('utf8');
      resolve({ status: response.statusCode ?? 0, body: response as AsyncIterable<string> });
    });
    sent.on('timeout', () => sent.destroy(new Error(`no response within ${MAX_SILENCE_MS / 1_000} s`)));
    sent.on('error', reject).end();
  });
};
