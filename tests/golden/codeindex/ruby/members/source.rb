class A
  attr_reader :x, :y
  alias old new
end
RSpec.describe A do
  context 'when 1.5' do
    it 'works' do
      1
    end
  end
end
