-- Configures wrk through environment variables, and prints the result as one line of JSON.

-- BENCH_ORIGINS: the servers that share the connections. Each thread uses one server.
local origins = {}
for host, port in (os.getenv('BENCH_ORIGINS') or ''):gmatch('http://([^: ]+):(%d+)') do
  origins[#origins + 1] = { host = host, port = port }
end

local threads = 0
function setup(thread)
  local origin = origins[threads % #origins + 1]
  thread.addr = wrk.lookup(origin.host, origin.port)[1]
  threads = threads + 1
end

-- BENCH_WRITE_EVERY: every n-th request is a write. {n} in its body is replaced by a unique text.
local every = tonumber(os.getenv('BENCH_WRITE_EVERY'))
if every then
  local method, path = os.getenv('BENCH_WRITE_METHOD'), os.getenv('BENCH_WRITE_PATH')
  local body, run = os.getenv('BENCH_WRITE_BODY'), os.getenv('BENCH_RUN')
  local read, sent = nil, 0

  function init()
    read = wrk.format()
  end

  function request()
    sent = sent + 1
    if sent % every ~= 0 then return read end
    local headers = { ['Content-Type'] = 'application/json' }
    for name, value in pairs(wrk.headers) do headers[name] = value end
    return wrk.format(method, path, headers, (body:gsub('{n}', run .. '-' .. sent)))
  end
end

function done(summary, latency)
  local errors = summary.errors
  print(
    string.format(
      '{"requests":%d,"microseconds":%d,"bytes":%d,"failed":%d,"errorStatuses":%d,"p50":%d,"p99":%d}',
      summary.requests,
      summary.duration,
      summary.bytes,
      errors.connect + errors.read + errors.write + errors.timeout,
      errors.status,
      latency:percentile(50),
      latency:percentile(99)
    )
  )
end
