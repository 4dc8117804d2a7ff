/** KubeletAnswer is the response of a kubelet. */
interface KubeletAnswer {
  readonly status: number;
  readonly body: AsyncIterable<string>;
}

/**
 * AskKubelet sends a GET request to a kubelet. It rejects if there is no response; the body ends when the signal is
 * aborted.
 */
export type AskKubelet = (url: URL, signal: AbortSignal) => Promise<KubeletAnswer>;

/** How long a kubelet may take to start its response. A log that is followed may then be silent for any time. */
const LONGEST_SILENCE_MS = 30_000;

/**
 * askKubeletOverHttps sends the request over the network. Like an API server without `--kubelet-certificate-authority`
 * it accepts any certificate of a kubelet: kubelets sign their own.
 */
export const askKubeletOverHttps: AskKubelet = async (url, signal) => {
  const { request } = await import('node:https');
  return new Promise((resolve, reject) => {
    const sent = request(url, { rejectUnauthorized: false, signal, timeout: LONGEST_SILENCE_MS }, (answer) => {
      answer.setTimeout(0);
      answer.setEncoding('utf8');
      resolve({ status: answer.statusCode ?? 0, body: answer as AsyncIterable<string> });
    });
    sent.on('timeout', () => sent.destroy(new Error(`no response within ${LONGEST_SILENCE_MS / 1_000} s`)));
    sent.on('error', reject).end();
  });
};
