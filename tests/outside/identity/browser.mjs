// A browser without a page: it follows redirects, and keeps the cookies of each origin.
export class Browser {
  #cookies = new Map();

  /** Sends a request with the cookies of its origin, and follows no redirect. */
  async send(url, options = {}) {
    const { origin } = new URL(url);
    const jar = this.#cookies.get(origin) ?? new Map();
    this.#cookies.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, { ...options, redirect: "manual", headers: { ...(cookie && { cookie }), ...options.headers } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (value === "" || /max-age=0\b/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  }

  /** Follows redirects to an address for which `isEnd` holds, and returns it without a request to it. */
  async follow(url, isEnd) {
    for (let count = 0; count < 20; count += 1) {
      if (isEnd(url)) return url;
      const answer = await this.send(url);
      const next = answer.headers.get("location");
      if (!next) throw new Error(`${url} answered ${answer.status}: ${(await answer.text()).slice(0, 400)}`);
      url = new URL(next, url).href;
    }
    throw new Error(`too many redirects, the last one to ${url}`);
  }
}
