# localfact on processors. The first build takes some minutes; what was pulled and found stays in the folder mounted at /work.
#
#     docker build --tag localfact .
#     docker run --rm --volume "$PWD:/work" localfact eval
#
# tests/e2e/test_dockerfiles.py runs these steps in a bare Debian, where there is no engine for containers.
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates libgomp1 libnuma1 python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/localfact
ENV PATH=/opt/localfact/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
COPY requirements /src/requirements
# torch without CUDA is in an index of its own; everything else is pinned with its hash.
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu --requirement /src/requirements/torch.txt
RUN pip install --no-cache-dir --no-deps --requirement /src/requirements/llm-cpu.txt
COPY . /src
RUN pip install --no-cache-dir --no-deps /src
WORKDIR /work
ENTRYPOINT ["localfact"]
