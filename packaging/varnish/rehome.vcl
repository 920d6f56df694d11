# rehome behind Varnish, tried with Varnish 7.1 (test/debian/proxies.test.ts). rehome runs with:
#   REHOME_TRUSTED_PROXY=127.0.0.1  REHOME_BASE_URL=https://pets.example.org/v1
vcl 4.1;

backend rehome {
    .host = "127.0.0.1";
    .port = "8080";
    .connect_timeout = 5s;
    .first_byte_timeout = 30s;
}

sub vcl_recv {
    # What the client sent is not passed on: rehome would believe it, because it believes this proxy.
    set req.http.X-Forwarded-For = client.ip;
    # Every answer under /v1 is for its caller alone, and costs the caller a request. Methods are rehome's to judge, so
    # none is piped: behind a pipe the next request of a connection would not be looked at.
    return (pass);
}
