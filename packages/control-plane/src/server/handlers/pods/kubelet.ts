/** KubeletAnswer is what a kubelet says. */
export interface KubeletAnswer {
  readonly status: number;
  readonly body: AsyncIterable<string>;
}

/** AskKubelet sends a GET to a kubelet. It rejects when there is no answer; the body ends when the signal is aborted. */
export type AskKubelet = (url: URL, signal: AbortSignal) => Promise<KubeletAnswer>;

/**
 * askKubeletOverHttps asks over the network. Like an API server without `--kubelet-certificate-authority` it takes whatever
 * certificate a kubelet shows: kubelets sign their own.
 */
export const askKubeletOverHttps: AskKubelet = async (url, signal) => {
  const { request } = await import('node:https');
  return new Promise((resolve, reject) => {
    const sent = request(url, { rejectUnauthorized: false, signal, timeout: 30_000 }, (answer) => {
      answer.setEncoding('utf8');
      resolve({ status: answer.statusCode ?? 0, body: answer as AsyncIterable<string> });
    });
    sent.on('error', reject).end();
  });
};
