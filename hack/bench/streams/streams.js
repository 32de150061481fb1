// Opens streams, all at once, and reads the body of each to its end: k6 tells nothing of its events.
import http from 'k6/http';

export const options = {
  scenarios: { streams: { executor: 'per-vu-iterations', vus: Number(__ENV.STREAMS), iterations: 1, maxDuration: '1h' } },
  discardResponseBodies: true,
  thresholds: { http_req_failed: ['rate==0'], iterations: [`count==${__ENV.STREAMS}`] },
};

export default function () {
  http.get(`${__ENV.TARGET}/${__VU}`, { timeout: '1h' });
}
